// The guidelines beside what is labelled, opened and closed by a button or a key; labelling goes on meanwhile.

import { el } from "../../report/web/el.js";
import { bind } from "../../report/web/state.js";

/** Put the drawer on the page; returns the button that opens it. */
export function guidelines(task) {
  const root = el("aside", { class: "drawer", id: "drawer", hidden: true, tabindex: "0", "aria-label": "Guidelines" },
    el("button", { type: "button", class: "quiet", onclick: () => turn() }, "Close ", el("kbd", { "aria-hidden": "true" }, "g")),
    el("h2", {}, "Guidelines"), el("div", { class: "guidelines" }, task.guidelines));
  const button = el("button", { type: "button", class: "quiet", "aria-controls": "drawer", "aria-expanded": "false", onclick: () => turn() },
    "Guidelines ", el("kbd", { "aria-hidden": "true" }, "g"));
  function turn() {
    if (root.contains(document.activeElement)) button.focus({ preventScroll: true });
    root.hidden = !root.hidden;
    button.setAttribute("aria-expanded", String(!root.hidden));
  }
  document.querySelector("main").after(root);
  bind("g", "show or hide the guidelines", turn);
  return button;
}
