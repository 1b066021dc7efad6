// Failed judgements: why they failed, their replies, and how far they could move scores.

import { bindKeys, browser, linked } from "../browser.js";
import { range } from "../charts.js";
import { columns as unpacked } from "../data.js";
import { count, el, num } from "../el.js";
import { table } from "../table.js";

export const keys = ["problems.text", "problems.kind", "problems.action", "problems.folder", "problems.sort",
  "problems.at"];

/** See page.js. */
export function bound(view) {
  bindKeys(view, "missing judgement");
}

/** See page.js. */
export function draw(view) {
  const { id, data } = view;
  if (data.count) view.browser ??= missing(id, data);
  if (data.n_problems) view.problems ??= problems(id, data);
  requestAnimationFrame(() => changed(view));
  const asked = data.n_judged + data.reasons.reduce((sum, { n }) => sum + n, 0);
  return [
    el("p", { class: "lead" }, data.count
      ? `${count(asked - data.n_judged)} of ${count(asked, "judgement")} failed. A failed judgement never becomes a score: `
        + `each mean is over the other judgements, and its bounds show how far the failed ones could move it.`
      : `All ${count(data.n_judged, "judgement")} succeeded, so no score lacks a judgement.`),
    data.count ? [reasons(id, data), ...bounds(id, data), el("h3", {}, "Item by item"),
      data.n_left ? el("p", { class: "warn" },
        `To limit its size, this page leaves out ${count(data.n_left, "text")}; unjudged.jsonl has them all.`) : null,
      view.browser.root] : null,
    data.n_problems ? [el("h3", {}, "Problems in the input files"),
      el("p", { class: "lead" },
        "Skipped entries were not judged. Kept entries were judged as they are."),
        view.problems.root] : null,
  ].flat().filter(Boolean);
}

/** See page.js. */
export function changed(view) {
  view.browser?.shown();
  view.problems?.shown();
  return true;
}

function reasons(id, { reasons: rows }) {
  const of = (row) => ({ [`${id}.stage`]: row.stage, [`${id}.reason`]: row.reason, [`${id}.at`]: "",
    [`${id}.text`]: "" });
  return table({
    id: `${id}.reasons`, of: id, caption: "Reasons by stage", rows,
    columns: [
      { key: "why", label: "why", isText: true, value: (row) => row.reason,
        cell: (row) => row.reason.replaceAll("_", " ") },
      { key: "asked", label: "stage", isText: true, value: (row) => row.stage },
      { key: "items", label: "items", value: (row) => row.rows, cell: (row) => linked(id, of(row), count(row.rows)) },
      { key: "n", label: "judgements", value: (row) => row.n, cell: (row) => count(row.n) },
    ],
  });
}

function bounds(id, { bounds: { n, runs } }) {
  if (!n) return [];
  return [
    el("h3", {}, "How far scores could move"),
    el("p", { class: "lead" },
      `Failed judgements could move the scores of ${count(n, "run")}`
        + `${n > runs.length ? `; the table shows the ${count(runs.length)} that could move furthest` : ""}, each `
        + `by the measure that could move most. The bracket shows the bounds. `,
      linked("leaderboard", {}, "The leaderboard has all runs.")),
    table({
      id: `${id}.bounds`, of: id, caption: "Bounds by run", rows: runs, order: "-width",
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run },
        { key: "measure", label: "measure", isText: true, value: (row) => row.measure },
        { key: "value", label: "value", value: (row) => row.value, cell: (row) => num(row.value) },
        { key: "low", label: "at least", value: (row) => row.low, cell: (row) => num(row.low) },
        { key: "high", label: "at most", value: (row) => row.high, cell: (row) => num(row.high) },
        { key: "range", label: "0 to 1", isText: true,
          cell: (row) => (row.high <= 1 ? range({ value: row.value, bounds: [row.low, row.high] }, [0, 1], 160) : "") },
        { key: "width", label: "width", value: (row) => row.width, cell: (row) => num(row.width) },
        { key: "missing", label: "unjudged", value: (row) => row.n_unjudged,
          cell: (row) => `${count(row.n_unjudged)} of ${count(row.n_unjudged + row.n)}` },
      ],
    }),
  ];
}

function missing(id, data) {
  const columns = unpacked(data.columns);
  const at = (name, row) => columns[name]?.at(row) ?? "";
  const isMany = columns.folder.values.length > 1;
  return browser({
    id, caption: "Failed judgements", columns, n: data.count,
    by: [["stage", "Stage"], ["reason", "Why"], ["topic", "Topic"], ["run", "Run"],
      ...(isMany ? [["folder", "Folder"]] : [])],
    searched: ["stage", "reason", "topic", "run", "item", "detail", "raw"],
    shows: [
      { key: "reason", label: "why", width: "minmax(120px, 1fr)",
        cell: (row) => String(at("reason", row)).replaceAll("_", " ") },
      { key: "stage", label: "stage", width: "minmax(80px, 1fr)", cell: (row) => at("stage", row) },
      { key: "topic", label: "topic", width: "minmax(120px, 1fr)", cell: (row) => at("topic", row) },
      { key: "run", label: "run", width: "minmax(140px, 2fr)", cell: (row) => at("run", row) },
      { key: "item", label: "item", width: "minmax(140px, 2fr)", cell: (row) => at("item", row) },
      { key: "n", label: "n", width: "52px", isNumber: true, cell: (row) => at("n", row) },
    ],
    item: (row) => el("article", { class: "item", "aria-label": "The item" },
      el("dl", {}, ["reason", "detail", "stage", "topic", "run",
        "item"].filter((name) => at(name, row) !== "").map((name) => [
        el("dt", {}, { reason: "why", detail: "details" }[name] ?? name), el("dd", {}, at(name, row))])),
      at("raw", row) === "" ? el("p", { class: "nothing" }, "No reply was stored.")
        : el("details", {}, el("summary", {}, "Raw reply"), el("pre", {}, at("raw", row)))),
  });
}

function problems(id, data) {
  const columns = unpacked(data.problems);
  return browser({
    id, name: "problems", caption: "Problems in the input files", columns, n: data.n_problems,
    by: [["kind", "Kind"], ["action", "Action"],
      ...(columns.folder.values.length > 1 ? [["folder", "Folder"]] : [])],
    searched: ["kind", "at", "what"],
    shows: [
      { key: "kind", label: "kind", width: "minmax(140px, 1fr)",
        cell: (row) => columns.kind.at(row).replaceAll("_", " ") },
      { key: "action", label: "action", width: "80px", cell: (row) => columns.action.at(row) },
      { key: "what", label: "what", width: "minmax(280px, 3fr)", cell: (row) => columns.what.at(row) },
      { key: "at", label: "where", width: "minmax(200px, 2fr)", cell: (row) => columns.at.at(row) },
    ],
    item: (row) => el("article", { class: "item", "aria-label": "The problem" }, el("dl", {},
      ["kind", "action", "what", "at"].map((name) => [el("dt", {}, { at: "where" }[name] ?? name),
        el("dd", {}, columns[name].at(row))]))),
  });
}
