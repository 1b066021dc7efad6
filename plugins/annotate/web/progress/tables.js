// Small tables of figures, each as wide as it is, and what stands where a figure is not known.

import { el } from "../../../report/web/el.js";

/** A table: columns are { label, isText, title, cell(row) }; the first names the row. */
export function figures(caption, columns, rows) {
  const head = columns.map(({ label, isText, title }) => el("th", { scope: "col", class: isText ? "words" : null, title }, label));
  const line = (row) => el("tr", {}, columns.map(({ cell, isText }, i) => (i
    ? el("td", { class: isText ? "words" : null }, cell(row))
    : el("th", { scope: "row" }, cell(row)))));
  return el("figure", { class: "table" }, el("div", { class: "scroll fit", role: "region", tabindex: "0", "aria-label": caption },
    el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, rows.map(line)))));
}

/** What is not known: why, and what would give it. */
export function unknown(what, ...more) {
  return el("p", { class: "nothing" }, what, ...more);
}

/** Whether a pair of bounds is there. */
export function isPair(value) {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "number");
}
