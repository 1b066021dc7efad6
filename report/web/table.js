// A table that sorts by its heads, keeps its order in the address, and downloads as CSV.

import { count, el } from "./el.js";
import { get, go } from "./state.js";

/** A table of rows.
 *
 * id: names its order in the address, and its file. of: the section. caption: what it holds.
 * columns: { key, label, title, isText, value(row), cell(row), className(row) }; `value` is sorted by and stands in
 * the CSV; `cell` is what is drawn, `value` if it is left out; a column without `value` is only drawn.
 * order: the order of rows by default, as "-mean". limit: how many are drawn at first; the CSV has all.
 */
export function table({ id, of, caption, columns, rows, order = "", limit = 0 }) {
  const key = `${id}.sort`;
  const wanted = get(key, order);
  const by = columns.find((column) => column.key === wanted.replace(/^-/, "") && column.value);
  const sorted = by ? ordered(rows, by.value, wanted.startsWith("-")) : rows;
  const head = columns.map((column) => {
    const isBy = column === by;
    const direction = isBy ? (wanted.startsWith("-") ? "descending" : "ascending") : null;
    const next = direction === "descending" || (!isBy && column.isText) ? column.key : `-${column.key}`;
    const name = column.value
      ? el("button", { type: "button", title: column.title, onclick: () => go(of, { [key]: next }) }, column.label)
      : column.label;
    return el("th", { scope: "col", class: column.isText ? "words" : null, "aria-sort": direction }, name);
  });
  const most = limit ? Number(get(`${id}.rows`)) || limit : sorted.length;
  const body = sorted.slice(0, most).map((row) =>
    el("tr", {}, columns.map((column, i) => {
      const content = column.cell ? column.cell(row) : column.value(row);
      const className = [column.isText ? "words" : "", column.className?.(row) ?? ""].join(" ").trim();
      return i ? el("td", { class: className || null }, content) : el("th", { scope: "row", class: className || null }, content);
    })),
  );
  return el("figure", { class: "table" },
    el("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
      el("table", {}, el("caption", { class: "unseen" }, caption),
        el("thead", {}, el("tr", {}, head)), el("tbody", {}, body))),
    el("p", { class: "under" }, sorted.length > most ? more(sorted.length - most, () => go(of, { [`${id}.rows`]: 4 * most }, true)) : null, download(`${id}.csv`, () => [
      columns.filter((c) => c.value).map((c) => c.label),
      ...sorted.map((row) => columns.filter((c) => c.value).map((c) => c.value(row))),
    ])));
}

function more(n, onclick) {
  return el("button", { type: "button", class: "quiet", onclick }, `Show more (${count(n)} are not shown)`);
}

/** Rows in the order of a value; those without one come last, either way. */
export function ordered(rows, value, isDescending) {
  const sign = isDescending ? -1 : 1;
  return rows.map((row) => [value(row), row]).sort(([a], [b]) => {
    const isMissing = [a, b].map((v) => v === null || v === undefined);
    if (isMissing[0] || isMissing[1]) return isMissing[0] - isMissing[1];
    return sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  }).map(([, row]) => row);
}

/** A button that saves rows, the first of them the head, as CSV. */
export function download(name, rows) {
  const save = () => {
    const text = rows().map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    el("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return el("button", { type: "button", class: "quiet", onclick: save }, `Save as ${name}`);
}

function field(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text; // no formula of a spreadsheet
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
