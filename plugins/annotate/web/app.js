// The page: its head, the screen that the address names, its keys, and what is wrong.

import { el } from "../../report/web/el.js";
import { bind, get, go, listen, section } from "../../report/web/state.js";
import { connect } from "./api.js";
import { banner } from "./banner.js";
import { guidelines } from "./guidelines.js";
import { head } from "./head.js";
import { help } from "./help.js";

// Each has view(root, api, route), which draws it and returns what takes it down.
const SCREENS = {
  start: { title: "The task", load: () => import("./start.js") },
  item: { title: "Label", load: () => import("./label/item.js") },
  answer: { title: "By answer", load: () => import("./label/answer.js") },
  bank: { title: "Nuggets", load: () => import("./lists/bank.js") },
  verify: { title: "Key points", load: () => import("./lists/verify.js") },
  adjudicate: { title: "Differences", load: () => import("./lists/adjudicate.js") },
  progress: { title: "Progress", load: () => import("./progress/progress.js") },
};

const main = document.getElementById("main");
let down = null; // takes the screen down
let moved = null; // a screen's own listener to changes of its address
let shownName = "";
let turn = 0;

/** What a screen knows of its address, and how it goes elsewhere.
 *
 * load(name): the module of a screen.
 * onchange(listener): called, instead of drawing the screen anew, when values of its address change.
 */
const route = {
  get name() { return shownName; },
  get n() { return /^\d+$/.test(get("n")) ? Number(get("n")) : null; },
  get: (key, otherwise) => get(key, otherwise),
  go: (name, changes, quietly) => go(name, changes, quietly),
  load: (name) => SCREENS[name].load(),
  onchange(listener) { moved = listener; },
};

async function start() {
  let api;
  try {
    api = await connect();
  } catch (error) {
    main.replaceChildren(el("h1", {}, "This page cannot be opened"), el("p", { class: "nothing" }, error.message));
    document.documentElement.dataset.ready = "no";
    return;
  }
  const screens = [...(api.task.is_coordinator ? [] : ["start"]), ...api.task.views].filter((name) => name in SCREENS);
  const named = () => (screens.includes(section()) ? section() : screens[0]);
  const header = head(api, screens.map((name) => ({ name, title: SCREENS[name].title })));
  banner(api);
  if (api.task.guidelines) header.add(guidelines(api.task));
  bind("?", "show the keyboard shortcuts", help);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  const show = async (isNew) => {
    const name = named();
    header.at(name);
    if (!isNew && name === shownName && moved) return moved();
    turn += 1;
    const mine = turn;
    down?.();
    down = moved = null;
    main.replaceChildren();
    main.setAttribute("class", name);
    shownName = name;
    document.title = `${SCREENS[name].title}: ${api.task.kind}`;
    try {
      const { view } = await SCREENS[name].load();
      if (mine !== turn) return;
      const takesDown = await view(main, api, route);
      if (mine === turn) down = takesDown ?? null;
      else takesDown?.();
    } catch (error) {
      console.error(error);
      if (mine === turn) main.replaceChildren(el("h1", {}, "This page cannot be shown"), el("p", { class: "nothing" }, error.message));
    }
    document.documentElement.dataset.ready = "yes";
  };
  listen((_, isNew) => show(isNew && named() !== shownName));
  await show(true);
}

start();
