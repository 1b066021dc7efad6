// A list with its filters, all in the address: text, values of columns, sort, and the row that is open.

import { chosen, counts, lowered, sorted } from "./data.js";
import { count, el, say } from "./el.js";
import { KINDS, look } from "./labels.js";
import { list } from "./list.js";
import { saves } from "./save.js";
import { bind, get, go, link } from "./state.js";

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

const MANY = 10_000; // rows; what is searched in is made ready before somebody types
const soon = globalThis.requestIdleCallback ?? setTimeout; // Safari has none

/** A browser over columns; what is drawn of it is `root`, and `shown()` shows what the address says.
 *
 * id: the section; name: of the list within it, before its keys in the address. columns: by name, see data.js,
 * of `n` rows. by: [[column, label, words]] to choose a value of, `words(value)` as it is shown. searched: names of columns that the text is looked for in.
 * shows: columns of the list, see web/list.js, `key` the name of the column it sorts by. item(row): nodes about a row.
 * open(row): what Enter does. under(rows): nodes below the list, for the rows that are chosen. saved(rows): the head
 * and the rows of its CSV, where they are others than those of the list.
 */
export function browser({ id, name = id, caption, columns, n, by, searched, shows, item, open, under, saved }) {
  const key = (part) => `${name}.${part}`;
  const known = by.filter(([column]) => columns[column] && columns[column].values.length > 1);
  const all = chosen(n, []);
  const text = el("input", {
    type: "search", name: key("text"), placeholder: "any words",
      oninput: () => go(id, { [key("text")]: text.value, [key("at")]: "" }, true),
  });
  const controls = el("div", { class: "controls" }, el("label", {}, "Filter", text));
  const selects = known.map(([column, label, words = (value) => value]) => {
    const options = [["", "any"], ...counts(all,
      columns[column]).filter(([value]) => value !== null).map(([value, of]) => [value, `${words(value)} (${count(of)})`])];
    const node = choice(label, "", options, (value) => go(id, { [key(column)]: value, [key("at")]: "" }));
    controls.append(node);
    return [column, node.querySelector("select")];
  });
  const tally = el("output", {});
  controls.append(tally);
  const detail = el("div", {});
  const below = el("span", {});
  const listed = (some) => [shows.map(({ label }) => label),
    ...Array.from(some, (row) => shows.map((one) => columns[one.key]?.at(row) ?? null))];
  const rows = list({
    caption, columns: shows,
    onsort: (wanted) => go(id, { [key("sort")]: wanted }),
    onmove: (row) => go(id, { [key("at")]: row }, true),
    onopen: (row) => open?.(row),
  });
  let asked = [null, null];
  let filtered = all;
  let current = all;
  let drawn = -2;

  const shown = () => {
    const wanted = known.map(([column]) => [columns[column], get(key(column))]);
    const by = get(key("sort"));
    const filter = JSON.stringify([...wanted.map(([, value]) => value), get(key("text"))]);
    if (document.activeElement !== text) text.value = get(key("text"));
    for (const [column, select] of selects) select.value = get(key(column));
    if (filter !== asked[0]) {
      filtered = chosen(n, wanted, get(key("text")), searched.filter((one) => columns[one]).map((one) => columns[one]));
      tally.textContent = filtered.length === n ? count(n, "row") : `${count(filtered.length)} of ${count(n, "row")}`;
      if (asked[0]) say(tally.textContent);
    }
    if (filter !== asked[0] || by !== asked[1]) {
      const column = columns[by.replace(/^-/, "")];
      current = column ? sorted(filtered, column, by.startsWith("-")) : filtered;
      asked = [filter, by];
      below.replaceChildren(...[under?.(current) ?? []].flat());
    }
    const at = get(key("at")) === "" ? -1 : Number(get(key("at")));
    rows.show(current, by, at >= 0 && at < n ? at : -1);
    if (at !== drawn) {
      detail.replaceChildren(...(at >= 0 && at < n ? [item(at)].flat() : []));
      drawn = at;
    }
  };
  if (n > MANY) for (const name of searched) if (columns[name]) soon(() => lowered(columns[name]));
  return { root: el("div", {}, controls, rows.root,
    el("p", { class: "under" }, saves({ id: name, title: caption, drawn: () => rows.root.querySelector(".list"),
      rows: () => (saved ?? listed)(current) }), below), detail), shown, step: rows.step, open: rows.open,
    filter: () => text.focus() };
}

/** Bind the keys of the browser that `view.browser` is: j, k, Enter and /. */
export function bindKeys(view, what) {
  const isControl = (target) => target.closest("a, button, summary") !== null;
  const to = (by) => () => view.browser?.step(by);
  for (const [key, by, words] of [["j", 1, "next"], ["k", -1, "previous"]]) bind(key, `${words} ${what}`, to(by),
    view.id);
  for (const [key, by] of [["ArrowDown", 1], ["ArrowUp", -1]])
    bind(key, `${by > 0 ? "next" : "previous"} ${what}, in the list`,
      (event) => (event.target.closest(".list") ? view.browser?.step(by) : false), view.id);
  bind("Enter", `open the ${what}`, (event) => (isControl(event.target) ? false : view.browser?.open()), view.id);
  bind("/", "filter", () => view.browser?.filter(), view.id);
}
