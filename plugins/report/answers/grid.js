// One topic: facts by runs, with how many runs state each fact and how many facts each run states.

import { el, num, short } from "../web/el.js";
import { get, link } from "../web/state.js";
import { roving } from "../web/roving.js";
import { saves } from "../web/save.js";
import { scroller } from "../web/scroller.js";
import { fact, mark } from "./parts.js";

/** The table; `order` has the indices of its runs. */
export function grid(id, matrix, topic, order, kind) {
  const facts = sorted(matrix.facts(topic), get(`${id}.sort`));
  const of = new Map(order.map((run) => [run, matrix.counted(facts.map(({ codes }) => codes[run]))]));
  const runs = columns(matrix, order, of, get(`${id}.runs`));
  const hasParts = facts.some((one) => one.part);
  const isEmpty = (run) => !of.get(run).n && !of.get(run).unjudged;
  const table = roving(el("table", { class: "matrix" },
    el("caption", { class: "unseen" }, `${kind.title} of topic ${topic} by run`),
    el("thead", {}, el("tr", {},
      el("th", { scope: "col", class: "words" }, kind.item), el("th", { scope: "col" }, kind.hit),
      runs.map((run) => el("th", { scope: "col", class: "upright" }, el("span", { title: matrix.runs[run] }, short(matrix.runs[run])))))),
    el("tbody", {}, facts.map((one) => el("tr", {},
      el("th", { scope: "row", class: "words fact-text" }, fact(one.text, one.importance, one.part)),
      el("td", { title: one.unjudged ? `${one.unjudged} not judged` : null }, `${one.hits} of ${one.n}`),
      runs.map((run) => cell(matrix, topic, one, run))))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row", class: "words" }, `share that this run states`), el("td", {}),
      runs.map((run) => el("td", { title: isEmpty(run) ? "no answer" : `${of.get(run).hits} of ${of.get(run).n}` }, isEmpty(run) ? "–" : num(of.get(run).rate, 2)))))));
  return el("figure", { class: "table" },
    scroller(`${kind.title} of topic ${topic} by run`, {}, table),
    el("p", { class: "under" }, saves({ id: `${id}-${topic}`, title: `${kind.title} of topic ${topic} by run`, drawn: () => table, rows: () => [
      ["topic", "id", kind.item, "importance", ...(hasParts ? ["sub-narrative"] : []), ...runs.map((run) => matrix.runs[run])],
      ...facts.map((one) => [topic, one.id, one.text, one.importance, ...(hasParts ? [one.part] : []),
        ...runs.map((run) => (one.codes[run] === null ? "" : matrix.codes[one.codes[run]]))]),
    ] })));
}

function cell(matrix, topic, one, run) {
  const code = one.codes[run];
  if (code === null) return el("td", { class: "c", title: `${matrix.runs[run]}: no answer` });
  const look = matrix.looks[code];
  const address = link("answer", { topic, run: matrix.runs[run], item: one.id, sentence: "" });
  return el("td", { class: "c" }, mark(look, `${look.word}: ${matrix.runs[run]}`, address));
}

function sorted(facts, by) {
  const sign = by.startsWith("-") ? -1 : 1;
  const rank = (one) => (by ? sign * (one.rate ?? 2 * sign) : one.importance === "vital" ? 0 : 1);
  return facts.map((one) => [rank(one), one]).sort(([a], [b]) => a - b).map(([, one]) => one);
}

function columns(matrix, order, of, by) {
  if (by === "name") return [...order].sort((a, b) => matrix.runs[a].localeCompare(matrix.runs[b], "en", { numeric: true }));
  if (by === "topic") return [...order].sort((a, b) => (of.get(b).rate ?? -1) - (of.get(a).rate ?? -1));
  return order;
}
