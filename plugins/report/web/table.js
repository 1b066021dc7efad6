// A table that sorts by its heads, is filtered by words, keeps both in the address, and is saved by save.js.

import { count, el, nameParts, say, scroller } from "./el.js";
import { saves, textOf } from "./save.js";
import { get, go } from "./state.js";

const collator = new Intl.Collator("en", { numeric: true });
const texts = new WeakMap();
const tables = new WeakMap(); // by figure

/** A table of rows.
 *
 * id: names its order in the address, and its files. of: the section. caption: what it holds.
 * measure: what it is about, in the names of its files.
 * columns: { key, label, title, kind, isHead, isText, isUndrawn, value(row), cell(row), className(row) }; `value` is
 * sorted by and stands in the CSV; `cell` is what is drawn, `value` if it is left out; a column without `value` is only
 * drawn, one that `isUndrawn` is only saved; `kind` is a class of its head and cells; `isHead`: it names the row, by
 * default the first does.
 * order: the order of rows by default, as "-mean". find: what a field says that filters by the words of a row.
 * tools: nodes before that field. namesOnly: it looks at texts alone. rowClass(row): a class of a row.
 * rule(rows): in the default order, a row to put in and the index of the row above it.
 * current: the key of the address that has the name, in the first column, of the row that is marked.
 * limit: rows at a time; what is drawn takes time, not what is there, and CSV and LaTeX have all.
 */
export function table({ id, of, caption, columns: all, rows, order = "", find = "", limit = 200, current = "", measure = "",
  tools = [], namesOnly = false, rowClass = null, rule = null }) {
  const columns = all.filter((column) => !column.isUndrawn);
  const valued = all.filter((column) => column.value);
  const searched = namesOnly ? valued.filter((column) => column.isText) : valued;
  const heads = columns.map((column) => head(column, id, of));
  const body = el("tbody");
  const inner = el("table", {}, el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, heads.map(({ node }) => node))), body);
  const field = find ? filter(id, of, find, tools) : null;
  const turning = pages(id, of);
  const made = new Map(); // what is drawn of a row stays when it is sorted and filtered
  const drawn = (row) => {
    if (!made.has(row)) made.set(row, line(columns, row, rowClass?.(row)));
    return made.get(row);
  };
  const mark = () => {
    for (const link of current ? body.querySelectorAll("th a") : [])
      if (link.textContent === get(current)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
  };
  let sorted = rows;
  let shown = null;
  const show = () => {
    const asked = ["sort", "find", "page"].map((key) => get(`${id}.${key}`)).join("\n");
    if (asked === shown) return mark();
    shown = asked;
    const wanted = get(`${id}.sort`, order);
    const by = valued.find((column) => column.key === wanted.replace(/^-/, ""));
    const words = get(`${id}.find`).trim();
    const matching = find && words ? filtered(rows, searched, words) : rows;
    sorted = by ? ordered(matching, by.value, wanted.startsWith("-")) : matching;
    const last = Math.max(0, Math.ceil(sorted.length / limit) - 1);
    const page = Math.min(last, Math.max(0, (Number(get(`${id}.page`)) || 1) - 1));
    heads.forEach(({ point }, i) => point(columns[i] === by ? wanted : ""));
    body.replaceChildren(...sorted.slice(page * limit, (page + 1) * limit).map(drawn));
    const put = rule && wanted === order ? rule(sorted) : null;
    if (put) body.rows[put.after]?.after(put.row);
    if (last) inner.setAttribute("aria-rowcount", String(sorted.length + 1));
    else inner.removeAttribute("aria-rowcount");
    field?.show(matching.length, rows.length);
    turning.show({ page, last, limit, n: sorted.length });
    mark();
  };
  show();
  const figure = el("figure", { class: "table" },
    field?.node,
    scroller(caption, {}, inner),
    el("p", { class: "under" },
      turning.node,
      saves({
        id, measure, title: caption, drawn: () => inner,
        rows: (isPrinted) => [
          valued.map((column) => column.label),
          ...sorted.map((row) => valued.map((column) => (isPrinted ? printed(column, row) : column.value(row)))),
        ],
      })));
  tables.set(figure, { id, show });
  return figure;
}

/** A table that was kept shows what the address says by now. */
export function again(figure) {
  tables.get(figure).show();
  return figure;
}

/** Let the tables in `root` show what the address says of them; the keys that are not about one of them. */
export function retabled(root, keys) {
  const known = [...root.querySelectorAll("figure.table")].map((figure) => tables.get(figure)).filter(Boolean);
  const about = ({ id }, key) => [`${id}.sort`, `${id}.find`, `${id}.page`].includes(key);
  for (const one of known) if (keys.some((key) => about(one, key))) one.show();
  return keys.filter((key) => !known.some((one) => about(one, key)));
}

/** What is shown of a value, as text: a number as it is rounded, a name in full. */
function printed(column, row) {
  const value = column.value(row);
  return typeof value === "number" && column.cell ? textOf(column.cell(row)) : value;
}

function line(columns, row, rowClass = null) {
  const first = Math.max(0, columns.findIndex((column) => column.isHead));
  return el("tr", { class: rowClass || null }, columns.map((column, i) => {
    const content = column.cell ? column.cell(row) : column.value(row);
    const className = [column.isText ? "words" : "", column.kind ?? "", column.className?.(row) ?? ""].join(" ").trim() || null;
    return i !== first ? el("td", { class: className }, content) : el("th", { scope: "row", class: className }, typeof content === "string" ? nameParts(content) : content);
  }));
}

function head(column, id, of) {
  let next = "";
  const sort = () => {
    go(of, { [`${id}.sort`]: next, [`${id}.page`]: "" });
    say(`sorted by ${column.label}, ${next.startsWith("-") ? "descending" : "ascending"}`);
  };
  const name = column.value
    ? el("button", { type: "button", title: column.title, onclick: sort }, column.label.length > 10 ? nameParts(column.label) : column.label)
    : column.label;
  const node = el("th", { scope: "col", class: [column.isText ? "words" : "", column.kind ?? ""].join(" ").trim() || null }, name);
  const point = (wanted) => {
    const direction = wanted ? (wanted.startsWith("-") ? "descending" : "ascending") : "";
    next = direction === "descending" || (!direction && column.isText) ? column.key : `-${column.key}`;
    if (direction) node.setAttribute("aria-sort", direction);
    else node.removeAttribute("aria-sort");
  };
  return { node, point };
}

function filter(id, of, label, tools) {
  const typed = (event) => go(of, { [`${id}.find`]: event.target.value, [`${id}.page`]: "" }, true);
  const input = el("input", {
    type: "search", name: `${id}.find`, autocomplete: "off", spellcheck: "false", oninput: typed,
  });
  const output = el("output");
  const show = (n, all) => {
    if (input.value !== get(`${id}.find`)) input.value = get(`${id}.find`);
    output.textContent = n === all ? count(all, "row") : `${count(n)} of ${count(all, "row")}`;
  };
  return { node: el("div", { class: "controls" }, tools, el("label", {}, label, input), output), show };
}

function pages(id, of) {
  let page = 0;
  const to = (by, label) => el("button", {
    type: "button", class: "quiet", name: `${id}.${label}`,
    onclick: () => go(of, { [`${id}.page`]: page + by ? page + by + 1 : "" }),
  }, label);
  const [previous, shown, next] = [to(-1, "previous"), el("span"), to(1, "next")];
  const node = el("span", { class: "pages" }, previous, shown, next);
  const show = ({ page: at, last, limit, n }) => {
    page = at;
    node.hidden = last === 0;
    [previous.disabled, next.disabled] = [page === 0, page === last];
    shown.textContent = `rows ${count(page * limit + 1)} to ${count(Math.min(n, (page + 1) * limit))} of ${count(n)}`;
  };
  return { node, show };
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
