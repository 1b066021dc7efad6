// Where a run loses: its topics, worst first, and the reference items that it misses and others state.

import { count, el, nameParts, num, short } from "../el.js";
import { KINDS, Matrix, fact, look } from "../labels.js";
import { cellsOf, choice, counted, has, measureOf, nameOf, reasonText, unknown } from "../runs.js";
import { get, link } from "../state.js";
import { table } from "../table.js";

export const keys = ["run", "measure"];

const IN_PART = ["partial_support", "partly", "uncited"];

/** See page.js. */
export function draw({ id, head, others }) {
  const measure = measureOf(head, head.measures);
  const { less_is_better: less, questions = {} } = others.topics ?? { less_is_better: [] };
  const isLess = less.includes(measure);
  const cells = cellsOf(head, measure);
  const means = new Map(cells.runs.map((at) => [head.runs[at], mean(cells.topics.map((topic) => counted(cells, at, topic)))]));
  const better = (a, b) => (isLess ? a < b : a > b);
  const order = [...means].filter(([, value]) => value !== null).sort(([, a], [, b]) => (isLess ? a - b : b - a)).map(([name]) => name);
  const run = nameOf("run", head.runs) || order.at(-1) || head.runs[0];
  const items = itemsOf(others.matrix, run);
  const topics = cells.topics.map((topic) => {
    const value = counted(cells, head.runs.indexOf(run), topic);
    const all = cells.runs.map((at) => counted(cells, at, topic));
    const known = all.filter((one) => one !== null);
    const name = head.topics[topic];
    const of = (standing) => items.filter((one) => one.topic === name && one.isVital && one.standing === standing).length;
    return {
      name, value, mean: mean(all), question: questions[name] ?? "",
      why: reasonText(cells.why(head.runs.indexOf(run), topic)),
      rank: value === null ? null : 1 + known.filter((one) => better(one, value)).length,
      missed: of("missed"), partly: of("in part"), stated: of("stated"), unjudged: of("not judged"),
    };
  });
  const missed = items.filter(({ standing }) => standing === "missed" || standing === "in part");
  const digits = (cells.values.at(-1) ?? 1) > 20 ? 0 : 3;
  const place = order.indexOf(run) + 1;
  const best = order.find((name) => name !== run);
  return [
    el("div", { class: "controls" }, choice(id, "run", "Run", head.runs, run), choice(id, "measure", "Measure", head.measures, measure)),
    ...unknown(head, head.measures, () => ""),
    el("h3", {}, nameParts(run)),
    el("p", { class: "lead" }, sentence({ run, measure, topics, items, place, n: order.length, value: means.get(run) ?? null, digits, isLess })),
    topicTable({ id, head, run, best, measure, topics, digits, items, isLess }),
    ...missedTable({ id, head, run, missed }),
  ];
}

function mean(numbers) {
  const known = numbers.filter((one) => one !== null);
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
}

/** All items that its answers were judged by: { topic, id, text, importance, isVital, standing, stated, n, kind }. */
function itemsOf(matrices, run) {
  const found = [];
  for (const given of matrices?.matrices ?? []) {
    const at = given.runs.indexOf(run);
    if (given.is_strip || at < 0 || given.kind === "passages") continue;
    const matrix = new Matrix(given);
    for (const { id: topic } of matrix.topics)
      for (const one of matrix.facts(topic)) {
        const code = one.codes[at];
        if (code === null) continue;
        const label = matrix.codes[code];
        const standing = matrix.isHit.has(code) ? "stated" : code === matrix.unjudged ? "not judged"
          : IN_PART.includes(label) || Number(label) > 0 ? "in part" : "missed";
        found.push({ topic, id: one.id, text: one.text, importance: one.importance, isVital: one.importance !== "okay",
          standing, word: look(matrix.kind, label).word, stated: one.hits, n: one.n + one.unjudged, kind: matrix.kind });
      }
  }
  return found;
}

function sentence({ run, measure, topics, items, place, n, value, digits, isLess }) {
  const answered = topics.filter(({ why }) => why !== reasonText(1)).length;
  const vital = items.filter(({ isVital }) => isVital);
  const stated = vital.filter(({ standing }) => standing === "stated").length;
  const worst = topics.filter((row) => row.value !== null && row.mean !== null)
    .map((row) => [(isLess ? -1 : 1) * (row.mean - row.value), row]).sort(([a], [b]) => b - a)[0];
  const noun = KINDS[items[0]?.kind]?.item ?? "item";
  const hasVital = items.some(({ importance }) => importance === "vital");
  return [
    `${run} has ${measure} ${num(value, digits)}${place ? `, rank ${place} of ${n}` : ""}, and answered ${answered} of ${count(topics.length, "topic")}. `,
    vital.length ? `It states ${count(stated)} of ${count(vital.length, `${hasVital ? "vital " : ""}${noun}`, `${hasVital ? "vital " : ""}${KINDS[items[0]?.kind]?.several ?? "items"}`)}. ` : "",
    worst && worst[0] > 0 ? `It loses most on topic ${worst[1].name}: ${num(worst[1].value, digits)}; the mean of all runs is ${num(worst[1].mean, digits)}.` : "",
  ].join("");
}

function topicTable({ id, head, run, best, measure, topics, digits, items, isLess }) {
  const hasItems = items.length > 0;
  const number = (key, label) => ({ key, label, value: (row) => row[key] });
  const to = has(head, "answer") ? "answer" : "topics";
  return table({
    id: `${id}.topics`, of: id, measure, caption: `Topics of ${run}`, rows: topics, order: isLess ? "-value" : "value",
    columns: [
      { key: "topic", label: "topic", isText: true, value: (row) => row.name,
        cell: (row) => el("a", { href: link(to, { run, topic: row.name, item: "", sentence: "" }), title: "its answer" }, row.name) },
      { key: "value", label: measure, value: (row) => row.value,
        cell: (row) => (row.value === null ? row.why || "–" : row.why ? `${num(row.value, digits)} (${row.why})` : num(row.value, digits)) },
      { key: "mean", label: "mean of runs", value: (row) => row.mean, cell: (row) => num(row.mean, digits) },
      { key: "rank", label: "rank", value: (row) => row.rank },
      ...(hasItems ? [number("missed", "missed"), number("partly", "in part"), number("stated", "stated")] : []),
      ...(topics.some((row) => row.unjudged) ? [number("unjudged", "not judged")] : []),
      ...(best && has(head, "sides") ? [{ key: "sides", label: "compare with", isText: true,
        cell: (row) => el("a", { href: link("sides", { run, other: best, topic: row.name, item: "" }) }, short(best)) }] : []),
      ...(topics.some((row) => row.question) ? [{ key: "question", label: "question", isText: true, value: (row) => row.question,
        cell: (row) => el("span", { class: "long", title: row.question }, row.question) }] : []),
    ],
  });
}

function missedTable({ id, head, run, missed }) {
  if (!missed.length) return [];
  const ofOthers = missed.filter(({ stated }) => stated)
    .sort((a, b) => (b.isVital ? 1 : 0) - (a.isVital ? 1 : 0) || b.stated - a.stated);
  const none = missed.length - ofOthers.length;
  const { title } = KINDS[missed[0].kind];
  const to = has(head, "answer") ? "answer" : "matrix";
  return [
    el("h3", {}, `${title} that it misses and others state`),
    ofOthers.length ? table({
      id: `${id}.missed`, of: id, caption: `${title} that ${run} misses and others state`, rows: ofOthers, limit: 25,
      columns: [
        { key: "text", label: KINDS[missed[0].kind].item, isText: true, className: () => "fact-text", value: (row) => row.text,
          cell: (row) => el("span", {}, fact(el("a", { class: "plain", href: link(to, { run, topic: row.topic, item: row.id, sentence: "" }) }, row.text), row.importance)) },
        { key: "stated", label: "stated by", value: (row) => row.stated, cell: (row) => `${row.stated} of ${row.n}` },
        { key: "standing", label: "this run", isText: true, value: (row) => row.word },
        { key: "topic", label: "topic", isText: true, value: (row) => row.topic },
      ],
    }) : null,
    none ? el("p", { class: "lead" }, `It misses ${count(none)} more that no run states in full.`) : null,
  ].filter(Boolean);
}
