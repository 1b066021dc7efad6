// A table that sorts by its heads, is filtered by words, keeps both in the address, and downloads as CSV.

import { count, el } from "./el.js";
import { say } from "./page.js";
import { get, go } from "./state.js";

const collator = new Intl.Collator("en", { numeric: true });
const texts = new WeakMap();

/** A table of rows.
 *
 * id: names its order in the address, and its file. of: the section. caption: what it holds.
 * columns: { key, label, title, isText, value(row), cell(row), className(row) }; `value` is sorted by and stands in
 * the CSV; `cell` is what is drawn, `value` if it is left out; a column without `value` is only drawn.
 * order: the order of rows by default, as "-mean". find: what a field says that filters by the words of a row.
 * limit: rows at a time; what is drawn takes time, not what is there, and the CSV has all.
 */
export function table({ id, of, caption, columns, rows, order = "", find = "", limit = 200 }) {
  const wanted = get(`${id}.sort`, order);
  const valued = columns.filter((column) => column.value);
  const by = valued.find((column) => column.key === wanted.replace(/^-/, ""));
  const words = get(`${id}.find`).trim();
  const found = find && words ? filtered(rows, valued, words) : rows;
  const sorted = by ? ordered(found, by.value, wanted.startsWith("-")) : found;
  const last = Math.max(0, Math.ceil(sorted.length / limit) - 1);
  const page = Math.min(last, Math.max(0, (Number(get(`${id}.page`)) || 1) - 1));
  const body = sorted.slice(page * limit, (page + 1) * limit).map((row) => el("tr", {}, columns.map((column, i) => {
    const content = column.cell ? column.cell(row) : column.value(row);
    const className = [column.isText ? "words" : "", column.className?.(row) ?? ""].join(" ").trim() || null;
    return i ? el("td", { class: className }, content) : el("th", { scope: "row", class: className }, content);
  })));
  return el("figure", { class: "table" },
    find ? filter(id, of, find, found.length, rows.length) : null,
    el("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
      el("table", { "aria-rowcount": last ? String(sorted.length + 1) : null }, el("caption", { class: "unseen" }, caption),
        el("thead", {}, el("tr", {}, columns.map((column) => head(column, id, of, column === by ? wanted : "")))),
        el("tbody", {}, body))),
    el("p", { class: "under" },
      last ? pages({ id, of, page, limit, last, n: sorted.length }) : null,
      download(`${id}.csv`, () => [
        valued.map((column) => column.label),
        ...sorted.map((row) => valued.map((column) => column.value(row))),
      ])));
}

function head(column, id, of, wanted) {
  const direction = wanted ? (wanted.startsWith("-") ? "descending" : "ascending") : null;
  const next = direction === "descending" || (!direction && column.isText) ? column.key : `-${column.key}`;
  const sort = () => {
    go(of, { [`${id}.sort`]: next, [`${id}.page`]: "" });
    say(`sorted by ${column.label}, ${next.startsWith("-") ? "descending" : "ascending"}`);
  };
  const name = column.value
    ? el("button", { type: "button", title: column.title, onclick: sort }, column.label)
    : column.label;
  return el("th", { scope: "col", class: column.isText ? "words" : null, "aria-sort": direction }, name);
}

function filter(id, of, label, n, all) {
  const typed = (event) => go(of, { [`${id}.find`]: event.target.value, [`${id}.page`]: "" }, true);
  return el("p", { class: "controls" },
    el("label", {}, label, el("input", {
      type: "search", name: `${id}.find`, value: get(`${id}.find`), autocomplete: "off", spellcheck: "false", oninput: typed,
    })),
    el("output", {}, n === all ? count(all, "row") : `${count(n)} of ${count(all, "row")}`));
}

function pages({ id, of, page, limit, last, n }) {
  const to = (number, label) => el("button", {
    type: "button", class: "quiet", name: `${id}.${label}`, disabled: number < 0 || number > last,
    onclick: () => go(of, { [`${id}.page`]: number ? number + 1 : "" }),
  }, label);
  const shown = `rows ${count(page * limit + 1)} to ${count(Math.min(n, (page + 1) * limit))} of ${count(n)}`;
  return el("span", { class: "pages" }, to(page - 1, "previous"), shown, to(page + 1, "next"));
}

/** The rows that have all words in the values of these columns, in upper or lower case. */
export function filtered(rows, columns, words) {
  if (!texts.has(rows))
    texts.set(rows, rows.map((row) => columns.map((column) => column.value(row) ?? "").join("\n").toLowerCase()));
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const text = texts.get(rows);
  return rows.filter((_, i) => wanted.every((word) => text[i].includes(word)));
}

/** Rows in the order of a value; those without one come last, either way. */
export function ordered(rows, value, isDescending) {
  const sign = isDescending ? -1 : 1;
  const [some, none] = [[], []];
  for (const row of rows) {
    const by = value(row);
    if (by === null || by === undefined) none.push(row);
    else some.push([by, row]);
  }
  some.sort(([a], [b]) => sign * (typeof a === "string" ? collator.compare(a, b) : a - b));
  return [...some.map(([, row]) => row), ...none];
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
  const plain = /^\s*[=+\-@]|^[\t\r]/.test(text) ? `'${text}` : text; // no formula of a spreadsheet
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
