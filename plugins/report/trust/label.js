// A label as glyph, tone and word; the tone goes by its rank on its scale.

import { KINDS, look } from "../answers/labels.js";
import { el } from "../web/el.js";
import { go, link } from "../web/state.js";

const GLYPHS = { none: "✗", part: "◐", full: "✓" };

/** Where a label stands on its scale, worst to best: none, part or full; "" where labels have no order. */
export function tone(label, scale, isOrdered = true) {
  const rank = scale.indexOf(label);
  if (!isOrdered || rank < 0) return "";
  return rank === 0 ? "none" : rank === scale.length - 1 ? "full" : "part";
}

/** The word for a label, the same on the whole page; of a kind that has none, the label itself. */
export function wordOf(label, kind) {
  return isKnown(label, kind) ? look(kind, label).word : label.replaceAll("_", " ");
}

function isKnown(label, kind) {
  return Object.hasOwn(KINDS[kind]?.labels ?? {}, label);
}

/** The label, drawn, of `kind` and `scale`; numbers are their own glyph. */
export function labelled(label, { kind, scale, is_ordered: isOrdered = true }) {
  if (isKnown(label, kind)) {
    const seen = look(kind, label);
    return el("span", { class: "label" }, el("i", { class: `glyph ${seen.tone}`, "aria-hidden": "true" }, seen.glyph), seen.word);
  }
  const by = tone(label, scale, isOrdered);
  if (!by) return el("span", { class: "label" }, label);
  const isNumber = /^\d+$/.test(label);
  return el("span", { class: "label" },
    el("i", { class: by, "aria-hidden": isNumber ? null : "true" }, isNumber ? label : GLYPHS[by]),
      isNumber ? null : label.replaceAll("_", " "));
}

/** A select that keeps its value in the address; `options` are values or [value, text]. */
export function choice(label, value, options, onchange) {
  const items = options.map((one) => (Array.isArray(one) ? one : [one, one]));
  const select = el("select", { onchange: (event) => onchange(event.target.value) },
    items.map(([key, text]) => el("option", { value: key, selected: String(key) === String(value) }, text)));
  return el("label", {}, label, select);
}

/** A link to another view of the page: of what the address says when it is followed, not when it was drawn. */
export function linked(to, changes, ...children) {
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(to, changes);
  };
  return el("a", { href: link(to, changes), onclick: follow }, children);
}
