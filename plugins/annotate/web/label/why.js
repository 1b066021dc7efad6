// Why a person chose a label, and what they flag: fields that open by a key and close by Esc.

import { el } from "../../../report/web/el.js";

const MAX_CHARS = 10_000; // characters; the server takes twice as many

/** A field that opens by `open()`. onleft(text) when the person leaves it with something changed; ontyped(text) meanwhile. */
export function noteField({ label, ontyped = () => {}, onleft }) {
  let before = "";
  const area = el("textarea", {
    spellcheck: "true", autocomplete: "off", "aria-label": label,
    oninput: () => ontyped(area.value),
    onkeydown: (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      area.blur();
      back();
    },
    onblur: () => left(),
  });
  area.rows = 2;
  area.maxLength = MAX_CHARS;
  const root = el("div", { class: "note-field", hidden: true },
    el("span", { "aria-hidden": "true" }, label), area, el("small", {}, el("kbd", {}, "Esc"), " closes this"));
  let back = () => {};

  function left() {
    const text = area.value.trim();
    if (text !== before) onleft(text);
    before = text;
    root.hidden = !text;
  }

  return {
    root,
    text: () => area.value.trim(),
    /** Open it; `after` is called when Esc has left it. */
    open(after) {
      back = after;
      root.hidden = false;
      area.focus();
    },
    /** Show what was written before, of which `saved` is kept already; it stays closed where that is nothing. */
    set(text, saved = "") {
      area.value = text;
      before = saved;
      root.hidden = !text;
    },
  };
}
