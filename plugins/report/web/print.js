// What is printed: the sections that are about all results and the one in view, or those that the user chose.

import { el } from "./el.js";
import { get, go, section } from "./state.js";

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
