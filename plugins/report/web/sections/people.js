// How good is the judge, and what could it be: people agree only so far among themselves.

import { choice, labelled, linked } from "../browser.js";
import { range } from "../charts.js";
import { count, el, num, scroller } from "../el.js";
import { saves } from "../save.js";
import { get, go } from "../state.js";
import { table } from "../table.js";

export const keys = [];

const NO_FILTER = Object.fromEntries(["text", "topic_id", "run", "at"].map((name) => [`disagreements.${name}`, ""]));

/** See page.js. */
export function draw({ id, data }) {
  const at = Math.min(Number(get(`${id}.of`)) || 0, data.sides.length - 1);
  const side = data.sides[at];
  return [
    el("p", { class: "lead" }, lead(side)),
    data.sides.length > 1 ? el("div", { class: "controls" }, choice("Compared",
      at, data.sides.map((one, i) => [i, `${one.kind}: ${one.labels} and ${one.folder}`]),
      (value) => go(id, { [`${id}.of`]: value }))) : null,
    side.pooled ? el("p", { class: "warn" }, side.pooled) : null,
    side.scale_note ? el("p", { class: "warn" }, `Note: ${side.scale_note}.`) : null,
    figures(id, side),
    el("h3", {}, "Confusion matrix"),
    el("p", { class: "lead" },
      "Each row is a label from people, each column a label from the judge. Shares are of the row; a stronger colour "
        + "is a larger share. Each link leads to the disagreements in its cell."),
    confusion(side, at),
    el("h3", {}, "By label"),
    byLabel(id, side),
    side.by_topic.length ? [el("h3", {}, "By topic"), byTopic(id, side)] : null,
    side.annotators ? [el("h3", {}, "By annotator"), byAnnotator(id, side)] : null,
    el("p", { class: "lead" }, "The same in the terminal: ", el("code", {}, side.command)),
  ].flat(2).filter(Boolean);
}

function lead(side) {
  const items = `${count(side.n, "item")} that both `
    + `labelled${side.n_topics ? `, on ${count(side.n_topics, "topic")}` : ""}`;
  const ceiling = side.annotators
    ? "The judge is compared with the majority label and with each person. Compare the agreement with each person to "
      + "the last column, the agreement of people with each other: it is the ceiling."
    : "Each item has one label from people, so the ceiling, how well people agree with each other, is unknown.";
  const given = side.given && !side.pooled ? ` The labels were given ${side.given}.` : "";
  return `The judge against people on ${items}. Not compared: ${count(side.n_human_only)} that only people labelled, `
    + `${count(side.n_judged_only)} that only the judge labelled,`
    + ` and ${count(side.n_unjudged)} not judged. Whisker: ${num(100 * side.level, 0)}% interval over topics. `
    + `${ceiling}${given}`;
}

function figures(id, side) {
  const columns = side.annotators
    ? [["judge", "judge, majority"], ["each", "judge, each"], ["people", "people"]]
    : [["judge", "judge against people"]];
  const least = lowest(side.figures.flatMap((row) => columns.map(([key]) => row[key])));
  return table({
    id: `${id}.figures`, of: id, caption: "Agreement", rows: side.figures,
    columns: [
      { key: "name", label: "measure", isText: true, value: (row) => row.name },
      ...columns.flatMap(([key, label]) => [
        { key, label, value: (row) => row[key]?.value ?? null, cell: (row) => num(row[key]?.value) },
        { key: `${key}.range`, label: el("span", { class: "unseen" }, "interval"), isText: true,
          cell: (row) => interval(row[key], least, columns.length > 1 ? 80 : 140) },
      ]),
    ],
  });
}

/** Where the axis of these estimates begins: at 0, or below the lowest of them. */
function lowest(estimates) {
  return Math.min(0, ...estimates.filter(Boolean).flatMap(({ value, low }) => [value ?? 0, low ?? 0]));
}

/** An estimate on an axis from `least` to 1, the same for all of a table. */
function interval(estimate, least, width = 140) {
  if (!estimate || estimate.value === null || estimate.value === undefined) return "";
  const mark = range({ value: estimate.value, interval: estimate.low === null ? null : [estimate.low, estimate.high] },
    [least, 1], width);
  return el("span", { class: width < 100 ? "beside narrow" : "beside" }, mark,
    estimate.low === null ? null : el("small", {}, `${num(estimate.low)} to ${num(estimate.high)}`));
}

function confusion(side, at) {
  const { kind, scale, confusion: rows } = side;
  const columns = scale.map((_, j) => rows.reduce((sum, row) => sum + row[j], 0));
  const cell = (n, i, j) => {
    const total = rows[i].reduce((a, b) => a + b, 0);
    const share = total ? n / total : 0;
    const text = [count(n), el("small", {}, total ? ` ${num(share)}` : "")];
    const pair = `${scale[i]} → ${scale[j]}`;
    const isLink = i !== j && n;
    return el("td", { class: "tone", style: { "--share": `${Math.round(share * 60)}%` } },
      isLink ? linked("disagreements", { ...NO_FILTER, "disagreements.of": at || "", "disagreements.pair": pair },
        text) : text);
  };
  const drawn = el("table", {}, el("caption", { class: "unseen" },
      "Items by the label of people, in rows, and of the judge, in columns"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "people \\ judge"),
        scale.map((label) => el("th", { scope: "col" }, labelled(label, side))),
        el("th", { scope: "col" }, "all"))),
      el("tbody", {}, rows.map((row, i) => el("tr", {}, el("th", { scope: "row" },
        labelled(scale[i], side)),
        row.map((n, j) => cell(n, i, j)), el("td", {}, count(row.reduce((a, b) => a + b, 0))))),
      el("tr", {}, el("th", { scope: "row" }, "all"), columns.map((n) => el("td", {}, count(n))),
        el("td", {}, count(columns.reduce((a, b) => a + b, 0))))));
  return el("figure", { class: "table" },
    scroller("Labels of people and judge", { class: "fit" }, drawn),
    el("p", { class: "under" }, saves({ id: `people.${kind}.confusion`, title: "Labels of people, in rows, and of the judge, in columns",
      drawn: () => drawn, rows: () => [["people", ...scale], ...rows.map((row, i) => [scale[i], ...row])] })));
}

function byLabel(id, side) {
  const { by_label: rows } = side;
  const least = lowest(rows.map((row) => row.kappa));
  return table({
    id: `${id}.labels`, of: id, caption: "Agreement by label", rows,
    columns: [
      { key: "label", label: "label", isText: true, value: (row) => row.label,
        cell: (row) => labelled(row.label, side) },
      ...["precision", "recall",
        "f1"].map((key) => ({ key, label: key === "f1" ? "F1" : key, value: (row) => row[key],
        cell: (row) => num(row[key]) })),
      { key: "kappa", label: "one-vs-rest kappa", value: (row) => row.kappa.value,
        cell: (row) => num(row.kappa.value) },
      { key: "range", label: el("span", { class: "unseen" }, "interval"), isText: true,
        cell: (row) => interval(row.kappa, least) },
      { key: "people", label: "people", value: (row) => row.n_people, cell: (row) => count(row.n_people) },
      { key: "judge", label: "judge", value: (row) => row.n_judge, cell: (row) => count(row.n_judge) },
    ],
  });
}

function byTopic(id, { by_topic: rows, is_ordered: isOrdered }) {
  const least = Math.min(0, ...rows.map((row) => row.cohen_kappa.unweighted ?? 0));
  return [
    el("p", { class: "lead" },
      "Intervals resample topics, so a single topic has none. A dash: one side gave only one label, so kappa is undefined."),
    table({
      id: `${id}.topics`, of: id, caption: "Agreement by topic", rows, order: "kappa",
      columns: [
        { key: "topic", label: "topic", isText: true, value: (row) => row.topic },
        { key: "n", label: "items", value: (row) => row.n, cell: (row) => count(row.n) },
        { key: "equal", label: "equal labels", value: (row) => row.accuracy, cell: (row) => num(row.accuracy) },
        { key: "kappa", label: "Cohen kappa", value: (row) => row.cohen_kappa.unweighted,
          cell: (row) => num(row.cohen_kappa.unweighted) },
        ...(isOrdered ? [{ key: "linear", label: "linear", value: (row) => row.cohen_kappa.linear,
          cell: (row) => num(row.cohen_kappa.linear) }] : []),
        { key: "dot", label: `${num(least, least ? 2 : 0)} to 1`, isText: true,
          cell: (row) => (row.cohen_kappa.unweighted === null ? ""
          : range({ value: row.cohen_kappa.unweighted }, [least, 1], 140)) },
      ],
    }),
  ];
}

function byAnnotator(id, { annotators, is_ordered: isOrdered }) {
  return [
    el("p", { class: "lead" },
      `${count(annotators.each.length, "annotator")} gave ${count(annotators.n_labels, "label")} to `
        + `${count(annotators.n_items, "item")}; ${count(annotators.n_pairable, "item")} have two or more labels.`),
    table({
      id: `${id}.annotators`, of: id, caption: "The judge against each annotator", rows: annotators.each,
      columns: [
        { key: "name", label: "annotator", isText: true, value: (row) => row.name },
        { key: "kappa", label: "Cohen kappa", value: (row) => row.kappa.unweighted,
          cell: (row) => num(row.kappa.unweighted) },
        ...(isOrdered ? [{ key: "linear", label: "linear", value: (row) => row.kappa.linear,
          cell: (row) => num(row.kappa.linear) }] : []),
      ],
    }),
  ];
}
