// Where two judges differ, item by item: what was judged, both labels, and what each gave as its reason.

import { bindKeys, browser, choice, labelled, linked, wordOf } from "../browser.js";
import { columns as unpacked } from "../data.js";
import { count, el, num } from "../el.js";
import { download } from "../save.js";
import { get, go } from "../state.js";

export const keys = ["disagreements.of"];

const REASONS = ["rationale", "other_rationale", "quote", "other_quote", "votes", "other_votes"];

/** See page.js. */
export function bound(view) {
  bindKeys(view, "disagreement");
}

/** See page.js. */
export function draw(view) {
  const { id, data } = view;
  const at = Math.min(Number(get(`${id}.of`)) || 0, data.compared.length - 1);
  const one = data.compared[at];
  view.of = at;
  view.kept ??= new Map();
  if (!view.kept.has(at)) view.kept.set(at, one.n ? made(view, one) : null);
  view.browser = view.kept.get(at);
  const [first, second] = one.names;
  requestAnimationFrame(() => view.browser?.shown());
  return [
    el("p", { class: "lead" }, one.n
      ? `${capital(first)} and ${second} disagree on ${count(one.n)} of the ${count(one.n_both, "item")} that both `
        + `labelled${one.is_ordered ? ", largest difference first" : ""}. The arrow goes from ${first} to ${second}.`
      : `${capital(first)} and ${second} agree on all ${count(one.n_both, "item")} that both labelled.`),
    data.compared.length > 1 ? el("div", { class: "controls" }, choice("Compared",
      at, data.compared.map((each, i) => [i, `${each.kind}: ${each.of.join(" and ")} (${count(each.n)})`]),
      (value) => go(id, { [`${id}.of`]: value, [`${id}.at`]: "", [`${id}.pair`]: "", [`${id}.sort`]: "" }))) : null,
    one.n_left ? el("p", { class: "warn" },
      `To limit its size, this page leaves out ${count(one.n_left, "text")}; judge compare prints them all.`) : null,
    view.browser?.root,
  ].filter(Boolean);
}

/** See page.js. */
export function changed(view) {
  const at = Math.min(Number(get(`${view.id}.of`)) || 0, view.data.compared.length - 1);
  if (at !== view.of) return false;
  view.browser?.shown();
  return true;
}

function made({ id }, one) {
  const columns = unpacked(one.columns);
  const itemKeys = one.keys.filter((key) => key !== "topic_id" && key !== "run_id");
  const name = one.texts.find((text) => columns[text]);
  const ids = (row) => itemKeys.map((key) => columns[key].at(row)).join(" ");
  const isRun = one.keys.includes("run_id");
  const open = (row) => go("answer", { topic: columns.topic_id?.at(row), run: columns.run.at(row),
    item: columns[itemKeys[0]]?.at(row) });
  return browser({
    id, caption: "Items with two labels", columns, n: one.n,
    by: [["pair", "Labels", (pair) => pair.split(" → ").map((label) => wordOf(label, one.kind)).join(" → ")], ["topic_id", "Topic"], ...(isRun ? [["run", "Run"]] : [])],
    searched: [...one.keys, "run", ...one.texts],
    shows: [
      { key: "pair", label: one.names.join(" → "), width: `${widest(one)}px`, cell: (row) => [
        labelled(columns.label.at(row), one), " → ",
          labelled(columns.other_label.at(row), one)] },
      { key: name ?? itemKeys[0], label: name ? name.replaceAll("_", " ") : "item", width: "minmax(200px, 3fr)",
        cell: (row) => (name && columns[name].at(row)) || ids(row) },
      { key: "topic_id", label: "topic", width: "minmax(120px, 1fr)", cell: (row) => columns.topic_id?.at(row) ?? "" },
      ...(isRun ? [{ key: "run", label: "run", width: "minmax(150px, 2fr)", cell: (row) => columns.run.at(row) }] : []),
      ...(one.is_ordered ? [{ key: "distance", label: "steps", width: "52px", isNumber: true,
        cell: (row) => columns.distance.at(row) }] : []),
      { key: "score", label: "score", width: "52px", isNumber: true, cell: (row) => num(columns.score.at(row)) },
    ],
    item: (row) => item(one, columns, row, isRun),
    open: isRun ? open : undefined,
    saved: (rows) => both(one, columns, rows),
    under: (rows) => [sheet(one, columns, rows), " ",
      el("span", {}, "has these items without labels, to label them again. Then run ", el("code", {}, `judge agree sheet.csv ${one.results}`))],
  });
}

/** The name of people or a judge at the start of a sentence; names of files stay. */
function capital(name) {
  return name === "people" ? "People" : name;
}

/** Pixels that two labels and the arrow between them take. */
function widest({ scale, kind }) {
  return 96 + 13 * Math.max(...scale.map((label) => wordOf(label, kind).length));
}

/** One item: what was judged, and both labels with their reasons. */
function item(one, columns, row, isRun) {
  const at = (name) => columns[name]?.at(row) ?? null;
  const texts = one.texts.filter((name) => !REASONS.includes(name) && at(name) !== null);
  const [first, second] = one.names;
  const quotes = (prefix) => at(`${prefix}quote`)?.split(" | ") ?? [];
  const all = [...quotes(""), ...quotes("other_")];
  const sideOf = (label, prefix) => [
    labelled(label, one),
    quotes(prefix).map((quote) => el("div", {}, el("q", {}, quote))),
    at(`${prefix}rationale`) === null ? null : el("div", {}, at(`${prefix}rationale`)),
    at(`${prefix}votes`) === null ? null : el("div", {}, at(`${prefix}votes`)),
  ];
  const pair = (term, ...content) => [el("dt", {}, term), el("dd", {}, content)];
  const text = (name) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", { class: "text" }, marked(at(name), all))];
  const isSilent = at("other_quote") === null && at("other_rationale") === null;
  return el("article", { class: "item", "aria-label": "The item" },
    el("dl", {},
      texts.slice(0, 1).map(text),
      pair(first, sideOf(at("label"), "")),
      pair(second, sideOf(at("other_label"), "other_"), at("score") === null ? null : el("div", {},
        `score ${num(at("score"))}`),
        isSilent ? el("div", {}, "No reason and no quote.") : null),
      texts.slice(1).map(text),
      one.keys.map((key) => pair(key.replaceAll("_", " "), key === "run_id" ? at("run") : at(key)))),
    isRun ? el("p", {}, linked("answer", { topic: at("topic_id"), run: at("run"), item: at(one.keys[2]) },
      "Open the answer")) : null);
}

/** A text in which these quotes are marked, where they stand in it word by word. */
function marked(text, quotes) {
  const quote = quotes.filter((each) => text.includes(each)).sort((a, b) => b.length - a.length)[0];
  if (!quote) return text;
  const at = text.indexOf(quote);
  return [marked(text.slice(0, at), quotes), el("mark", {}, quote), marked(text.slice(at + quote.length), quotes)];
}

/** A sheet of `judge next`'s layout without either label, for people to label again. */
function sheet(one, columns, rows) {
  const texts = one.texts.filter((name) => !REASONS.includes(name));
  return download("sheet.csv", () => [
    [...one.keys, ...texts, "label", "annotator", "rationale", "chosen_by"],
    ...Array.from(rows, (row) => [...[...one.keys, ...texts].map((name) => columns[name].at(row)), null, null, null,
      "disagreement"]),
  ]);
}

function both(one, columns, rows) {
  const names = [...one.keys, "label", "other_label", "distance", "score"];
  return [
    [...one.keys, ...one.names, "distance", "score"],
    ...Array.from(rows, (row) => names.map((name) => columns[name].at(row))),
  ];
}
