// Facts and runs: the facts that most runs miss; of one topic, facts by runs, or the sentences of each run.

import { count, el, num, roving, scroller, short } from "../el.js";
import { KINDS, Matrix, choice, fact, finder, mark } from "../labels.js";
import { saves } from "../save.js";
import { get, link } from "../state.js";
import { again, table } from "../table.js";

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
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row", class: "words" }, "share that this run states"), el("td", {}),
      runs.map((run) => el("td", { title: isEmpty(run) ? "no answer" : `${of.get(run).hits} of ${of.get(run).n}` }, isEmpty(run) ? "–" : num(of.get(run).rate)))))));
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

/** The table; `order` has the indices of its runs. */
export function strips(id, matrix, topic, order) {
  const given = matrix.strips(topic);
  const rows = order.filter((run) => given[run]).map((run) => {
    const of = (label) => given[run].filter((code) => matrix.codes[code] === label).length;
    return { run: matrix.runs[run], codes: given[run], ...matrix.counted(given[run]), uncited: of("uncited") };
  });
  const drawn = table({
    id, of: id, caption: `Sentences of topic ${topic} by run`, rows, limit: rows.length || 1,
    columns: [
      { key: "run", label: "run", isText: true, className: () => "fact-text", value: (row) => row.run },
      { key: "strip", label: "sentences", isText: true, className: () => "strip", cell: (row) => row.codes.map((code, at) => sentence(matrix, topic, row.run, code, at)) },
      { key: "rate", label: "share full", title: "of the judged sentences", value: (row) => row.rate, cell: (row) => num(row.rate) },
      { key: "hits", label: "full", value: (row) => row.hits },
      { key: "n", label: "judged", value: (row) => row.n },
      { key: "uncited", label: "no citation", value: (row) => row.uncited },
      { key: "unjudged", label: "not judged", value: (row) => row.unjudged },
    ],
  });
  roving(drawn.querySelector("table"));
  const without = order.filter((run) => !given[run]).length;
  return [drawn, without ? el("p", { class: "nothing" }, `${without} of ${order.length} runs have no sentences here.`) : null].filter(Boolean);
}

function sentence(matrix, topic, run, code, at) {
  const look = matrix.looks[code];
  return look.glyph ? mark(look, `sentence ${at + 1}: ${look.word}`, link("answer", { topic, run, item: "", sentence: at })) : " ";
}

export const keys = ["topic", "measure"];

/** See page.js. */
export function draw(view) {
  const { id, data, head } = view;
  view.matrices ??= new Map(data.matrices.map((one) => [one.name, new Matrix(one)]));
  const matrix = view.matrices.get(get(`${id}.program`)) ?? view.matrices.values().next().value;
  const kind = KINDS[matrix.kind];
  data.title = kind.title;
  const topic = matrix.byTopic.get(get("topic"));
  const measure = Object.hasOwn(data.order, get("measure")) ? get("measure") : head.measures[0];
  const controls = el("div", { class: "controls" },
    view.matrices.size > 1
      ? choice(id, "what", `${id}.program`, [...view.matrices].map(([name, one]) => [name, titled(name, one)]), matrix.name)
      : null,
    finder(id, "topic", "topic", matrix.topics.map((one) => [one.id, one.question]), topic?.id ?? "", "all topics"),
    topic && !matrix.is_strip ? sorting(id, measure, matrix.kind === "nuggets" ? "vital first" : "as given") : null);
  if (!topic) {
    const missing = get("topic") ? el("p", { class: "nothing" }, `Topic ${get("topic")} has no labels of this kind.`) : null;
    return [controls, missing, matrix.is_strip ? topics(id, matrix) : missed(view, matrix, kind)].flat().filter(Boolean);
  }
  const order = ordered(matrix, data.order[measure].map((index) => head.runs[index]));
  const legend = el("ul", { class: "marks", "aria-label": "Marks" },
    matrix.looks.filter((look) => look.glyph).map((look) => el("li", {}, mark(look, look.word), ` ${look.word}`)));
  const name = el("h3", {}, topic.id, topic.question ? `: ${topic.question}` : "");
  const isRated = matrix.codes.includes("5");
  const drawn = matrix.is_strip ? strips(id, matrix, topic.id, order) : grid(id, matrix, topic.id, order, kind);
  const lead = matrix.is_strip
    ? `Each row is a run, best by ${measure} first. Each mark is a sentence, with the label of its first citation. Choose a mark to open the answer.`
    : `Each row is a ${kind.item}, each column a run, best by ${measure} first. Choose a cell to open the answer.`
      + (isRated ? ` A rating of ${matrix.codes[matrix.hits[0]]} or more (of 5) answers it.` : "");
  return [el("p", { class: "lead" }, lead), controls, name, isRated ? null : legend, drawn].flat().filter(Boolean);
}

function titled(name, matrix) {
  const at = name.indexOf("@");
  return KINDS[matrix.kind].title + (at < 0 ? "" : ` of ${name.slice(at + 1)}`);
}

function sorting(id, measure, first) {
  return [
    choice(id, "rows", `${id}.sort`, [["", first], ["rate", "most missed first"], ["-rate", "least missed first"]], get(`${id}.sort`)),
    choice(id, "runs", `${id}.runs`, [["", `by ${measure}`], ["topic", "by this topic"], ["name", "by name"]], get(`${id}.runs`)),
  ];
}

/** Indices of the matrix's runs as they are named here, those that are not named last. */
function ordered(matrix, names) {
  const indices = new Map(matrix.runs.map((run, index) => [run, index]));
  const first = names.filter((name) => indices.has(name)).map((name) => indices.get(name));
  const known = new Set(first);
  return [...first, ...matrix.runs.map((_, index) => index).filter((index) => !known.has(index))];
}

/** All topics: the facts by how few runs state them. */
function missed({ id, once }, matrix, kind) {
  matrix.allMissed ??= matrix.missed();
  const rows = matrix.allMissed;
  const none = rows.filter((row) => row.n && !row.hits);
  const vital = none.filter((row) => row.importance === "vital").length;
  const hasImportance = rows.some((row) => row.importance);
  const lead = `Every run misses ${count(none.length)} of ${count(rows.length, kind.item, kind.several)}`
    + `${vital ? ` (${count(vital)} vital)` : ""}; ${kind.first} come first. Choose a topic to see them by run.`;
  return [el("p", { class: "lead" }, lead), again(once("missed", matrix.name, () => table({
    id, of: id, caption: `${kind.title} by how many runs ${kind.hit}`, rows, limit: 25,
    columns: [
      { key: "text", label: kind.item, isText: true, className: () => "fact-text", value: (row) => row.text },
      hasImportance ? { key: "importance", label: "importance", isText: true, value: (row) => row.importance, cell: (row) => fact(row.importance === "vital" ? "" : row.importance, row.importance) } : null,
      { key: "topic", label: "topic", isText: true, value: (row) => row.topic, cell: (row) => el("a", { href: link(id, { topic: row.topic }), title: row.question }, row.topic) },
      { key: "hits", label: `runs that ${kind.hit}`, value: (row) => row.hits },
      { key: "n", label: "judged", value: (row) => row.n },
      { key: "rate", label: "share", value: (row) => row.rate, cell: (row) => num(row.rate) },
      { key: "unjudged", label: "not judged", value: (row) => row.unjudged },
    ].filter(Boolean),
  })))];
}

/** All topics: how often citations support their sentences. */
function topics(id, matrix) {
  const at = Object.fromEntries(matrix.codes.map((label, code) => [label, code]));
  matrix.byTopicCounts ??= matrix.topics.map((topic) => {
    const codes = matrix.strips(topic.id).flat();
    const of = (label) => codes.filter((code) => code === at[label]).length;
    return { ...topic, ...matrix.counted(codes), full: of("full"), partial: of("partial"), none: of("none"), uncited: of("uncited") };
  });
  return [
    el("p", { class: "lead" }, "Sentences of all runs by the label of their first citation. Choose a topic to see them by run."),
    table({
      id, of: id, caption: "Citations by topic", rows: matrix.byTopicCounts, limit: 25,
      columns: [
        { key: "topic", label: "topic", isText: true, value: (row) => row.id, cell: (row) => el("a", { href: link(id, { topic: row.id }), title: row.question }, row.id) },
        matrix.topics.some(({ question }) => question)
          ? { key: "question", label: "question", isText: true, className: () => "fact-text", value: (row) => row.question } : null,
        { key: "full", label: "full support", value: (row) => row.full },
        { key: "partial", label: "partial", value: (row) => row.partial },
        { key: "none", label: "none", value: (row) => row.none },
        { key: "rate", label: "share full", title: "of the judged sentences", value: (row) => row.rate, cell: (row) => num(row.rate) },
        { key: "uncited", label: "no citation", value: (row) => row.uncited },
        { key: "unjudged", label: "not judged", value: (row) => row.unjudged },
      ].filter(Boolean),
    }),
  ];
}
