// A list of any length, a page of rows at a time; sorted by its heads.

import { count, el } from "./el.js";

const PAGE = 12; // rows: what is opened stands below them

/** A list; `columns` are { key, label, width, isNumber, cell(row) }, all sorted by if they have a `key`.
 *
 * caption: what it holds. onsort(key), onmove(row), onopen(row): what the user asks for.
 *
 * Returns { root, show(rows, by, at), step(by), open() }: `rows` are numbers of rows in their order, `by` the sort
 * ("-score"), `at` the row that is chosen or -1.
 */
export function list({ caption, columns, onsort, onmove, onopen }) {
  let rows = new Uint32Array(0);
  let page = 0;
  let index = -1;
  const style = { "grid-template-columns": columns.map(({ width }) => width).join(" ") };
  const head = el("div", { role: "row", class: "row head", style });
  const body = el("div", { role: "rowgroup", class: "rows" });
  const grid = el("div", { role: "grid", class: "list", "aria-label": caption },
    el("div", { role: "rowgroup", class: "heads" }, head), body);
  const empty = el("p", { class: "nothing", hidden: true }, "No row matches.");
  const pages = el("p", { class: "pages", hidden: true });
  const root = el("div", {}, grid, empty, pages);

  const drawn = () => {
    const focused = body.contains(document.activeElement);
    const from = page * PAGE;
    const n = Math.min(PAGE, rows.length - from);
    body.replaceChildren(...Array.from({ length: n }, (_, i) => line(from + i)));
    if (focused) body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    const last = Math.ceil(rows.length / PAGE) - 1;
    pages.hidden = last < 1;
    const to = (name, other) => el("button", {
      type: "button", class: "quiet", disabled: other < 0 || other > last, onclick: () => { page = other; drawn(); } }, name);
    pages.replaceChildren(to("previous", page - 1), `rows ${count(from + 1)} to ${count(from + n)} of ${count(rows.length)}`,
      to("next", page + 1));
  };
  const line = (i) => {
    const row = rows[i];
    const isAt = i === index;
    return el("div", {
      role: "row", class: "row", "aria-rowindex": i + 2, "aria-selected": String(isAt), style,
      tabindex: isAt || ((index < 0 || Math.floor(index / PAGE) !== page) && i === page * PAGE) ? "0" : "-1",
      onclick: () => onmove(row), ondblclick: () => onopen(row),
    }, columns.map((one) => el("div", { role: "gridcell", class: one.isNumber ? "number" : null }, one.cell(row))));
  };

  return {
    root,
    /** Show these rows. */
    show(next, by = "", at = -1) {
      const isSame = next === rows;
      const before = index;
      rows = next;
      index = at < 0 ? -1 : rows.indexOf(at);
      head.replaceChildren(...columns.map((one) => {
        const isBy = one.key && by.replace(/^-/, "") === one.key;
        const isDown = isBy && by.startsWith("-");
        const other = isBy ? (isDown ? one.key : `-${one.key}`) : one.isNumber ? `-${one.key}` : one.key;
        return el("div", { role: "columnheader", class: one.isNumber ? "number" : null,
          "aria-sort": isBy ? (isDown ? "descending" : "ascending") : null },
          one.key ? el("button", { type: "button", "data-sort": one.key, onclick: () => onsort(other) }, one.label)
            : one.label);
      }));
      grid.setAttribute("aria-rowcount", rows.length + 1);
      grid.hidden = rows.length === 0;
      empty.hidden = rows.length > 0;
      if (!isSame || index !== before) page = Math.max(0, Math.floor(index / PAGE));
      drawn();
    },
    /** Move to the next row (1) or the one before (-1). */
    step(by) {
      if (!rows.length) return;
      index = Math.min(rows.length - 1, Math.max(0, index + by));
      onmove(rows[index]);
    },
    /** Open the row that is chosen. */
    open() {
      if (index >= 0) onopen(rows[index]);
    },
  };
}
