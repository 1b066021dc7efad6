// The page as a whole: navigation, sections, keys, what is drawn anew when the address changes.

import { count, el } from "./el.js";
import { bind, bindings } from "./keys.js";
import { get, go, link, listen, section } from "./state.js";

/** Data of this name in the page. */
function island(name) {
  return JSON.parse(document.getElementById(name).textContent);
}

/** Draw everything. A section's module has
 *
 * draw(view): its nodes, where view has `data`, `head`, `id` and `title`;
 * keys: names of values in the address by which it is drawn anew;
 * bound(view): optional, binds its keys once;
 * changed(view): optional, shows what changed in the address without being drawn anew, so that what is typed in
 * keeps its cursor, and lists their place; false where it must be drawn anew.
 */
export function start(modules) {
  const head = island("head");
  const main = document.getElementById("main");
  const navigation = document.querySelector("nav");
  main.replaceChildren();
  navigation.append(el("b", {}, "nuggetjudge"));
  const views = head.sections.map(({ id, title, count: n }) => {
    const module = modules[id];
    const view = { id, title, head, data: island(`data-${id}`), keys: new Set(module.keys ?? []) };
    view.root = el("section", { id, "aria-labelledby": `${id}-title`, tabindex: "-1" });
    view.link = el("a", { href: link(id) }, title, n === null || n === undefined ? null : el("small", {}, ` ${count(n)}`));
    view.draw = () => {
      const missing = view.data.missing;
      const nodes = missing ? nothing(view.data) : module.draw(view);
      const isTitle = view.data.title === head.title;
      view.root.replaceChildren(el(isTitle ? "h1" : "h2", { id: `${id}-title` }, view.data.title ?? title), ...[nodes].flat());
    };
    navigation.append(view.link);
    main.append(view.root);
    module.bound?.(view);
    return view;
  });
  for (const view of views) view.draw();
  bindAll(views);
  const show = (isNew) => {
    const current = views.find((view) => view.id === section()) ?? views[0];
    for (const view of views) {
      view.link.setAttribute("href", link(view.id));
      if (view === current) view.link.setAttribute("aria-current", "true");
      else view.link.removeAttribute("aria-current");
    }
    if (isNew && section()) current.root.scrollIntoView();
  };
  listen((changed, isNew) => {
    for (const view of views)
      if ([...changed].some((key) => view.keys.has(key) || key.startsWith(`${view.id}.`)) && !modules[view.id].changed?.(view)) view.draw();
    show(isNew);
  });
  show(true);
  document.documentElement.dataset.ready = "yes";
}

/** What stands in the place of a section that has nothing to draw. */
function nothing({ missing, command }) {
  return [el("p", { class: "nothing" }, missing), command ? el("pre", {}, el("code", {}, command)) : null].filter(Boolean);
}

/** Say something to people who do not see the page. */
export function say(text) {
  document.querySelector(".live").textContent = text;
}

function bindAll(views) {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  const letters = { leaderboard: "l", topics: "t", disagreements: "d", unjudged: "u" };
  for (const view of views)
    if (letters[view.id])
      bind(`g ${letters[view.id]}`, `go to ${view.title}`, () => {
        go(view.id);
        view.root.focus({ preventScroll: true });
      });
  bind("?", "show the keys", help);
}

function help() {
  const dialog = el("dialog", { "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el("dl", { class: "keys" }, bindings().map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("form", { method: null }, el("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
