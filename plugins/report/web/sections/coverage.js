// Was it retrieved, and then used: what contexts answer rank by rank, and what every passage answers.

import { choice } from "../browser.js";
import { curves, scatter } from "../charts.js";
import { count, el, num, scroller } from "../el.js";
import { saves } from "../save.js";
import { get, go } from "../state.js";
import { table } from "../table.js";

const MAX_DRAWN = 200; // passages that are drawn
const LOST = "?";

/** The rating matrix of a topic: what is required first, then by how much each passage answers. */
export function matrix(folder, topic, run) {
  const { passages, ratings, required, questions, answerable, n_missing: missing } = folder.topics[topic];
  const own = folder.runs[run]?.[topic]?.passages ?? [];
  const order = new Map(required.map((name, i) => [name, i]));
  const answers = (i) => [...ratings[i]].filter((rating) => rating !== LOST && Number(rating) >= folder.eta).length;
  const rows = passages.map((_, i) => i).sort((a, b) =>
    (order.get(passages[a]) ?? Infinity) - (order.get(passages[b]) ?? Infinity) || answers(b) - answers(a) || a - b);
  const drawn = el("table", { class: "ratings" }, el("caption", { class: "unseen" },
      `Ratings of passages for the sub-questions of ${topic}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "passage"),
        questions.map((text, j) => el("th", { scope: "col", title: text }, j + 1,
          answerable[j] === 0 ? el("small", { title: "no passage of the pool answers it" }, " –") : null)))),
      el("tbody", {}, rows.slice(0, MAX_DRAWN).map((i) => el("tr", {},
        el("th", { scope: "row" }, passages[i],
          order.has(passages[i]) ? el("span", { class: "tag" }, `required ${order.get(passages[i]) + 1}`) : null,
          own.includes(passages[i]) ? el("span", { class: "tag" }, `rank ${own.indexOf(passages[i]) + 1}`) : null),
        [...ratings[i]].map((rating) => el("td", {}, rating === LOST
          ? el("i", { class: "lost", title: "not judged" }, "?")
          : el("i", { class: `r${rating}` }, rating)))))));
  return [
    el("h3", {}, `Ratings of ${count(passages.length, "passage")}`),
    el("p", { class: "lead" },
      `The required passages together answer every answerable sub-question; their numbers give the order of `
        + `selection. ${missing ? `Hatched: ${count(missing, "rating")} failed.` : "No rating failed."}`
        + `${rows.length > MAX_DRAWN ? ` Only the first ${count(MAX_DRAWN)} are drawn.` : ""}`),
    el("figure", { class: "table" }, scroller("Ratings", { class: "fit" }, drawn),
      el("p", { class: "under" }, saves({ id: `coverage.ratings-${topic}`, title: `Ratings of passages for the sub-questions of ${topic}`,
        drawn: () => drawn, rows: () => [["passage", ...questions], ...rows.map((i) => [passages[i], ...ratings[i]])] }))),
  ];
}

export const keys = ["topic", "run"];

/** See page.js. */
export function draw({ id, data }) {
  return [
    ...data.covered.flatMap((folder, i) => covered(id, folder, data.covered.length > 1 ? `.${i}` : "")),
    ...data.ranked.flatMap((folder, i) => ranked(id, folder, i)),
  ].filter(Boolean);
}

function covered(id, folder, part) {
  const topics = Object.keys(folder.topics);
  const runs = Object.keys(folder.runs);
  const topic = topics.includes(get("topic")) ? get("topic") : topics[0];
  const run = runs.includes(get("run")) ? get("run") : "";
  return [
    part ? el("h3", {}, folder.folder) : null,
    el("p", { class: "lead" },
      `A passage answers a sub-question if its rating is ${folder.eta} or higher. Coverage is the share of the answerable `
        + `sub-questions that the passages of a context answer together. A context is the first `
        + `${folder.k === "required" ? "passages of a ranking, as many as are required" : `${count(folder.k, "passage")} of a ranking`}.`),
    folder.means.length ? [el("h3", {}, "Retrieved, then used"), ...means(id, folder, run, part)] : null,
    el("h3", {}, "One topic"),
    el("div", { class: "controls" },
      choice("Topic", topic, topics, (value) => go(id, { topic: value })),
      runs.length ? choice("Run", run, [["", "none marked"], ...runs], (value) => go(id, { run: value })) : null),
    runs.length ? ranks(id, folder, topic, run) : null,
    ...questions(id, folder, topic, part),
    ...matrix(folder, topic, run),
  ].flat(2);
}

function means(id, { means: rows, tau }, run, part) {
  const both = rows.filter((row) => known(row.coverage) && known(row.report_coverage));
  const points = both.map((row) => ({ name: row.run, x: row.coverage, y: row.report_coverage,
    isOwn: row.run === run }));
  const order = tau && known(tau.value)
    ? ` Kendall's tau of the two orders is `
      + `${num(tau.value)}${known(tau.low) ? ` (interval over topics: ${num(tau.low)} to ${num(tau.high)})` : ""}.` : "";
  return [
    el("p", { class: "lead" },
      `Each point is a run. Further right, its contexts cover more; further up, its answers cover more.${order}`),
    points.length ? el("figure", { class: "chart" },
      scatter({ id: `${id}.both${part}`, points, xLabel: "coverage of contexts", yLabel: "of answers",
      label: `Coverage of contexts and of answers of ${points.length} runs; the table has the numbers` })) : null,
    table({
      id: `${id}.means${part}`, of: id, caption: "Coverage by run", rows, order: "-context",
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run },
        { key: "context", label: "contexts", value: (row) => row.coverage ?? null, cell: (row) => num(row.coverage) },
        { key: "report", label: "answers", value: (row) => row.report_coverage ?? null,
          cell: (row) => num(row.report_coverage) },
        { key: "lost", label: "difference",
          value: (row) => (known(row.coverage) && known(row.report_coverage) ? row.report_coverage - row.coverage
          : null),
          cell: (row) => (known(row.coverage) && known(row.report_coverage)
            ? num(row.report_coverage - row.coverage, 3, true) : "–") },
      ],
    }),
  ];
}

function known(value) {
  return value !== null && value !== undefined;
}

function ranks(id, { runs }, topic, own) {
  const lines = Object.entries(runs).filter(([, of]) => of[topic])
    .map(([name, of]) => ({ name, values: of[topic].coverage, isOwn: name === own }));
  return el("figure", { class: "chart" }, el("figcaption", {}, "Coverage by rank"),
    curves({ id: `${id}.coverage-${topic}`, lines, y: [0, 1], xLabel: "rank", yLabel: "coverage",
      label: `Coverage by rank, one line for each of ${lines.length} runs${own ? `; ${own} is marked` : ""}` }));
}

function questions(id, { topics }, topic, part) {
  const { questions: texts, answerable, n_answering: n, n_runs: all, n_missing: missing } = topics[topic];
  const rows = texts.map((text, i) => ({ number: i + 1, text, answerable: answerable[i], n: n[i] }));
  const lost = rows.filter((row) => row.answerable === 1 && row.n === 0);
  const none = rows.filter((row) => row.answerable === 0).length;
  const can = rows.filter((row) => row.answerable === 1).length;
  const verb = missing ? "is known to have retrieved" : "retrieved"; // a missing rating may be an answer
  const missed = lost.length
    ? `No run ${verb} an answer to ${count(lost.length)} of ${count(can, "answerable sub-question")}`
    : "Each answerable sub-question has a run that retrieved an answer";
  return [
    el("p", { class: "lead" }, all
      ? `${missed}${none ? `; ${count(none)} more ${none === 1 ? "has" : "have"} no answer in the pool` : ""}.` : ""),
    table({
      id: `${id}.questions${part}`, of: id, caption: "Sub-questions of the topic", rows, order: "n",
      columns: [
        { key: "number", label: "no.", value: (row) => row.number },
        { key: "text", label: "sub-question", isText: true, value: (row) => row.text,
          cell: (row) => el("span", { class: "wrapped" }, row.text) },
        { key: "can", label: "answerable", isText: true, value: (row) => ({ 1: "yes", 0: "no" })[row.answerable]
          ?? "open" },
        { key: "n", label: "runs that retrieved an answer", value: (row) => row.n,
          cell: (row) => `${count(row.n)} of ${count(all)}` },
      ],
    }),
  ];
}

function ranked(id, { measures, runs }, i) {
  return [
    el("h3", {}, "Rankings by the grades of passages"),
    el("p", { class: "lead" },
      "Means over topics of the rankings as given. Passages without a grade are removed from the ranking."),
    table({
      id: `${id}.ranked${i || ""}`, of: id, caption: "Ranking measures by run", rows: runs, order: `-${measures[0]}`,
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run },
        ...measures.map((name) => ({ key: name, label: name, value: (row) => row[name] ?? null,
          cell: (row) => num(row[name]) })),
        { key: "n", label: "passages", value: (row) => row.n, cell: (row) => count(row.n) },
        { key: "lost", label: "unjudged", value: (row) => row.n_unjudged, cell: (row) => count(row.n_unjudged) },
      ],
    }),
  ];
}
