// Texts to read beside what is decided about them: opened when they are wanted, the longest in part.

import { count, el, marked } from "../../../report/web/el.js";

const MAX_CHARS = 20_000; // characters at first

/** A text in the serif of all that people read, with marks; its rest comes when it is asked for. */
export function reading(text, marks = []) {
  const most = Math.max(MAX_CHARS, ...marks.map(({ end }) => end)); // what is marked is in sight
  const points = text.length > most ? [...text] : null;
  if (!points || points.length <= most) return el("p", { class: "t" }, marked(text, marks));
  const rest = el("button", { type: "button", class: "quiet", onclick: () => {
    part.replaceChildren(...marked(text, marks).flat());
    rest.remove();
  } }, `show all ${count(points.length)} characters`);
  const part = el("p", { class: "t" }, marked(points.slice(0, most).join(""), marks));
  return el("div", {}, part, rest);
}

/** Where a quote stands in a text, white space aside; null: nowhere. Places are code points. */
export function placeOf(quote, text) {
  const words = quote.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern, "u").exec(text);
  if (!match) return null;
  const start = [...text.slice(0, match.index)].length;
  return { start, end: start + [...match[0]].length };
}
