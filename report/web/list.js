// A list of any length: only the rows that can be seen are elements; sorted by its heads.

import { count, el } from "./el.js";

const HEIGHT = 36; // pixels of a row, as in lists.css
const PAGE = 200000; // rows: what browsers draw of one tall element ends at some 17 million pixels
const BEYOND = 8; // rows that are drawn above and below what is seen

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
  const empty = el("p", { class: "nothing", hidden: true }, "Nothing here is like that.");
  const pages = el("p", { class: "pages", hidden: true });
  const root = el("div", {}, grid, empty, pages);
  let first = -1;

  const inPage = () => Math.min(PAGE, rows.length - page * PAGE);
  const drawn = () => {
    const from = Math.max(0, Math.floor(grid.scrollTop / HEIGHT) - BEYOND);
    const shownRows = Math.ceil(grid.clientHeight / HEIGHT) + 2 * BEYOND;
    const to = Math.min(inPage(), from + shownRows);
    const focused = body.contains(document.activeElement);
    first = from;
    const nodes = [];
    for (let i = from; i < to; i++) nodes.push(line(page * PAGE + i, i * HEIGHT));
    body.replaceChildren(...nodes);
    if (focused) chosenNode()?.focus({ preventScroll: true });
  };
  const line = (i, top) => {
    const row = rows[i];
    const isAt = i === index;
    return el("div", {
      role: "row", class: "row", "aria-rowindex": i + 2, "aria-selected": String(isAt),
        style: { ...style, top: `${top}px` },
      tabindex: isAt || (index < 0 && i === page * PAGE) ? "0" : "-1",
      onclick: () => onmove(row), ondblclick: () => onopen(row),
    }, columns.map((one) => el("div", { role: "gridcell", class: one.isNumber ? "number" : null }, one.cell(row))));
  };
  const chosenNode = () => body.querySelector('[tabindex="0"]');
  const reach = () => {
    if (index < 0) return;
    if (Math.floor(index / PAGE) !== page) turn(Math.floor(index / PAGE));
    const top = (index - page * PAGE) * HEIGHT;
    const seen = grid.clientHeight - head.offsetHeight;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + HEIGHT > grid.scrollTop + seen) grid.scrollTop = top + HEIGHT - seen;
  };
  const turn = (to) => {
    page = to;
    body.style.setProperty("height", `${inPage() * HEIGHT}px`);
    grid.scrollTop = 0;
    const n = Math.ceil(rows.length / PAGE);
    pages.hidden = n < 2;
    pages.replaceChildren(
      `Rows ${count(page * PAGE + 1)} to ${count(page * PAGE + inPage())} of ${count(rows.length)} `,
      ...[["Before", page - 1], ["After", page + 1]].map(([name, other]) =>
        el("button", { type: "button", class: "quiet", disabled: other < 0 || other >= n,
          onclick: () => { turn(other); drawn(); } }, name)));
  };
  grid.addEventListener("scroll", () => {
    const from = Math.max(0, Math.floor(grid.scrollTop / HEIGHT) - BEYOND);
    if (Math.abs(from - first) >= BEYOND / 2 || from === 0) drawn();
  }, { passive: true });

  return {
    root,
    /** Show these rows. */
    show(next, by = "", at = -1) {
      const isSame = next === rows;
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
      const edge = grid.offsetHeight - grid.clientHeight; // with the bar by which a narrow one scrolls
      grid.style.setProperty("height", `${Math.min(11, rows.length + 1) * HEIGHT + edge}px`);
      empty.hidden = rows.length > 0;
      if (!isSame) turn(Math.max(0, Math.floor(index / PAGE)));
      reach();
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
