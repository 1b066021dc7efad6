// The page as a whole: navigation, sections, keys, what is drawn anew when the address changes.

import { inflated } from "./data.js";
import { count, el, freshen, snapshot } from "./el.js";
import { declare } from "./labels.js";
import { areOn, bind, bindings, get, go, link, listen, section, turn } from "./state.js";
import { retabled } from "./table.js";

/** Data of this name in the page; what is large is packed. */
async function island(name) {
  const { type, textContent } = document.getElementById(name);
  return JSON.parse(type === "application/gzip" ? await inflated(textContent) : textContent);
}

/** Draw everything. A section's module has
 *
 * draw(view): its nodes, where view has `data`, `head`, `id`, `title`, and `others`, the data of
 * all sections by id, and `once(name, key, make)`: what `make`
 * made when `key` was last another. Nodes that are drawn again stay where they are;
 * keys: names of values in the address by which it is drawn anew;
 * bound(view): optional, binds its keys once;
 * changed(view, keys): optional, shows what changed in the address without being drawn anew, so that what is typed in
 * keeps its cursor, and lists their place; false where it must be drawn anew. Tables show by themselves what is theirs.
 */
export async function start(modules) {
  const head = await island("head");
  const names = ["cells", ...head.sections.map(({ id }) => `data-${id}`)];
  const [cells, ...data] = await Promise.all(names.map(island));
  head.cells = cells;
  declare(head.kinds ?? {});
  const others = Object.fromEntries(head.sections.map(({ id }, i) => [id, data[i]]));
  const main = document.getElementById("main");
  const navigation = document.querySelector("nav");
  main.replaceChildren();
  navigation.append(el("b", {}, "nuggetjudge"));
  const views = head.sections.map(({ id, title, count: n }, i) => {
    const module = modules[id];
    const view = { id, title, head, data: data[i], others, keys: new Set(module.keys ?? []) };
    view.root = el("section", { id, "aria-labelledby": `${id}-title`, tabindex: "-1" });
    const size = n === null || n === undefined ? null : el("small", {}, ` ${count(n)}`);
    view.link = el("a", { href: link(id) }, title, size);
    const made = new Map();
    view.once = (name, key, make) => {
      if (made.get(name)?.key !== key) made.set(name, { key, value: make() });
      return made.get(name).value;
    };
    view.draw = () => {
      const nodes = view.data.missing ? nothing(view.data) : drawn(module, view);
      const isTitle = view.data.title === head.title;
      const heading = el(isTitle ? "h1" : "h2", { id: `${id}-title` }, view.data.title ?? title);
      replaceNodes(view.root, [heading, ...[nodes].flat()]);
    };
    view.link.addEventListener("click", () => bringUp(view.root));
    navigation.append(view.link);
    main.append(view.root);
    module.bound?.(view);
    return view;
  });
  for (const view of views) view.draw();
  navigation.append(printing(views));
  if (!main.querySelector("h1")) main.prepend(el("h1", {}, head.title));
  const here = () => views.find((view) => view.id === section()) ?? views[0];
  bindAll(views, here);
  const show = (isNew) => {
    const current = here();
    for (const view of views) {
      view.link.setAttribute("href", link(view.id));
      if (view === current) view.link.setAttribute("aria-current", "true");
      else view.link.removeAttribute("aria-current");
    }
    navigation.scrollLeft = current.link.offsetLeft - 16; // the strip of a phone
    const isActedIn = current.root !== document.activeElement && current.root.contains(document.activeElement);
    if (isNew && section() && !isActedIn) bringUp(current.root);
  };
  const folded = new Set(); // notes are not folded on paper
  addEventListener("beforeprint", () => {
    for (const one of main.querySelectorAll(".box details:not([open])")) folded.add(one);
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    folded.clear();
  });
  for (const kind of ["click", "auxclick", "contextmenu"]) addEventListener(kind, freshen, true);
  listen((changed, isNew) => {
    const about = (view) => [...changed].filter((key) => view.keys.has(key) || key.startsWith(`${view.id}.`));
    const concerned = views.map((view) => [view, about(view)]).filter(([, own]) => own.length);
    const restores = concerned.map(([view]) => snapshot(view.root)); // all before any is drawn: each would lay out the page
    for (const [view, own] of concerned) {
      const left = retabled(view.root, own);
      if (left.length && !modules[view.id].changed?.(view, left)) view.draw();
    }
    for (const one of restores) one();
    show(isNew);
  });
  show(true);
  document.documentElement.dataset.ready = "yes";
}

/** Put nodes into a section; those that are there already are not moved, for that would draw them again. */
function replaceNodes(root, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...root.childNodes]) if (!wanted.has(child)) child.remove();
  let next = root.firstChild;
  for (const node of nodes)
    if (node === next) next = next.nextSibling;
    else root.insertBefore(node instanceof Node ? node : document.createTextNode(node), next);
}

/** The nodes of a section, or its error, so that the other sections are still drawn. */
function drawn(module, view) {
  try {
    return module.draw(view);
  } catch (error) {
    console.error(error);
    return nothing({ missing: `This section could not be drawn: ${error.message}` });
  }
}

/** The text in place of a section that has nothing to draw. */
function nothing({ missing, command }) {
  return [el("p", { class: "nothing" }, missing), command ? el("pre", {}, el("code", {}, command)) : null].filter(Boolean);
}

let leave = () => {};

/** Scroll a section to the top, and keep it there while those above it get their heights, or until one scrolls on. */
function bringUp(root) {
  leave();
  const heights = new ResizeObserver(() => root.scrollIntoView());
  const timer = setTimeout(() => leave(), 1500);
  const hands = ["wheel", "touchstart", "pointerdown", "keydown"];
  leave = () => {
    heights.disconnect();
    clearTimeout(timer);
    for (const kind of hands) removeEventListener(kind, leave, true);
  };
  root.scrollIntoView();
  heights.observe(root.parentElement);
  for (const kind of hands) addEventListener(kind, leave, { capture: true, passive: true });
}

function bindAll(views, here) {
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
        bringUp(view.root);
      });
  bind("/", "filter", () => {
    const field = here().root.querySelector("input[type=search]") ?? document.querySelector("main input[type=search]");
    field?.focus();
    field?.select();
    return Boolean(field);
  });
  bind("?", "show the keyboard shortcuts", help);
}

function help() {
  const box = el("input", { type: "checkbox", checked: areOn(), onchange: () => turn(box.checked) });
  const dialog = el("dialog", { "aria-label": "Keyboard shortcuts" },
    el("h2", {}, "Keyboard shortcuts"),
    el("dl", { class: "keys" },
      bindings().map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]),
      [el("dt", {}, el("kbd", {}, "Esc")), el("dd", {}, "close")]),
    el("p", {}, el("label", {}, box, " keyboard shortcuts are on")),
    el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const WIDTH = 700; // pixels that a table has on A4 and Letter
const BY_ITEM = ["profile", "answer", "sides", "disagreements", "unjudged", "agents"]; // printed when asked for

/** A button that asks which of these views to print; the address keeps the choice under `print`. */
export function printing(views) {
  const isPrinted = ({ id }) => (get("print") ? get("print").split(",").includes(id) : !BY_ITEM.includes(id) || id === section());
  addEventListener("beforeprint", () => {
    for (const view of views) view.root.dataset.printed = isPrinted(view) ? "yes" : "no";
    const tables = [...document.querySelectorAll('[data-printed="yes"] .scroll > table')];
    document.documentElement.classList.add("measured");
    const widths = tables.map((table) => table.scrollWidth);
    document.documentElement.classList.remove("measured");
    tables.forEach((table, i) => table.style.setProperty("--zoom", String(Math.min(1, WIDTH / widths[i]))));
  });
  const ask = () => {
    const boxes = views.map((view) => [view.id, el("input", { type: "checkbox", checked: isPrinted(view) })]);
    const names = views.map((view, i) => el("li", {}, el("label", {}, boxes[i][1], ` ${view.title}`)));
    const print = () => {
      const chosen = boxes.filter(([, box]) => box.checked).map(([id]) => id);
      dialog.close();
      if (!chosen.length) return;
      go(section(), { print: chosen.join(",") }, true);
      window.print();
    };
    const dialog = el("dialog", { "aria-label": "Print" },
      el("h2", {}, "Print these sections"), el("ul", { class: "printed" }, names),
      el("button", { type: "button", onclick: print }, "Print"), " ",
      el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  return el("button", { type: "button", class: "quiet print", onclick: ask }, "Print …");
}
