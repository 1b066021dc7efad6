// All keys of the page, and the switch for people who use speech input.

import { el } from "../../report/web/el.js";
import { areOn, bindings, turn } from "../../report/web/state.js";

/** A table of the keys that are bound. */
export function keyTable() {
  return el("dl", { class: "keys" }, bindings().map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]));
}

/** Show the keys in a dialog. */
export function help() {
  const box = el("input", { type: "checkbox", checked: areOn(), onchange: () => turn(box.checked) });
  const dialog = el("dialog", { "aria-label": "Keyboard shortcuts" }, el("h2", {}, "Keyboard shortcuts"), keyTable(),
    el("p", {}, el("label", {}, box, " keyboard shortcuts are on")),
    el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
