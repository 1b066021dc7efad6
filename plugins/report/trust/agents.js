// What agents did: how items ended, each step of one of them, and whether hunts found everything they could.

import { columns as unpacked } from "../web/columns.js";
import { count, el } from "../web/el.js";
import { inflated } from "../web/inflate.js";
import { table } from "../web/table.js";
import { bindKeys, browser } from "./browser.js";
import { linked } from "./label.js";
import { hunts } from "./hunts.js";
import { steps } from "./steps.js";

export const keys = [];

/** See page.js. */
export function bound(view) {
  bindKeys(view, "item");
}

/** See page.js. */
export function draw(view) {
  const { id, data } = view;
  if (data.count) view.browser ??= items(id, data);
  requestAnimationFrame(() => changed(view));
  return [
    el("p", { class: "lead" }, data.count
      ? `Agents worked on ${count(data.count, "item")}; each ended as one of these, and a failure is no outcome. `
        + `Choose an item to see its steps: what was asked, what came back, why it stopped.`
      : "What agents found; their steps were not kept."),
    data.evidence.runs.length ? evidence(id, data.evidence) : null,
    data.hunts.length ? hunts(id, data.hunts) : null,
    data.count ? [el("h3", {}, "Item by item"), ends(id, data), view.browser.root] : null,
  ].flat(2).filter(Boolean);
}

/** See page.js. */
export function changed(view) {
  view.browser?.shown();
  return true;
}

function ends(id, { ends: rows }) {
  const isReason = rows.some((row) => row.reason !== null);
  const of = (row) => ({
    [`${id}.stage`]: row.stage, [`${id}.outcome`]: row.outcome, [`${id}.reason`]: row.reason ?? "", [`${id}.at`]: "",
      [`${id}.text`]: "" });
  return table({
    id: `${id}.ends`, of: id, caption: "How items ended", rows,
    columns: [
      { key: "outcome", label: "outcome", isText: true, value: (row) => row.outcome,
        cell: (row) => row.outcome.replaceAll("_", " ") },
      ...(isReason ? [{ key: "reason", label: "why there is none", isText: true, value: (row) => row.reason,
        cell: (row) => row.reason?.replaceAll("_", " ") ?? "" }] : []),
      { key: "stage", label: "stage", isText: true, value: (row) => row.stage },
      { key: "n", label: "items", value: (row) => row.n, cell: (row) => linked(id, of(row), count(row.n)) },
    ],
  });
}

function evidence(id, { outcomes, runs }) {
  const given = outcomes.filter((name) => runs.some((row) => row.counts[name]));
  return [
    el("h3", {}, "What was found for the sentences"),
    el("p", { class: "lead" },
      "Sentences by run. Not sought: the citation was fine, so nothing was looked for. Partly supported, "
        + "contradicted, conflict and not found are what a reader should look at."),
    table({
      id: `${id}.evidence`, of: id, caption: "Sentences by run and outcome", rows: runs,
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run },
        { key: "n", label: "sentences", value: (row) => row.n, cell: (row) => count(row.n) },
        ...given.map((name) => ({ key: name, label: name.replaceAll("_", " "), value: (row) => row.counts[name] ?? 0,
          cell: (row) => count(row.counts[name] ?? 0) })),
      ],
    }),
  ];
}

function items(id, data) {
  const columns = unpacked(data.columns);
  const at = (name, row) => columns[name].at(row) ?? "";
  const number = (key, label) => ({ key, label, width: "72px", isNumber: true, cell: (row) => count(at(key, row)) });
  return browser({
    id, caption: "Items of agents", columns, n: data.count,
    by: [["outcome", "Outcome"], ["reason", "Why none"], ["stage", "Stage"], ["topic", "Topic"], ["run", "Run"]],
    searched: ["item", "outcome", "reason"],
    shows: [
      { key: "item", label: "item", width: "minmax(240px, 3fr)", cell: (row) => at("item", row) },
      { key: "outcome", label: "outcome", width: "minmax(140px, 1fr)",
        cell: (row) => String(at("outcome", row)).replaceAll("_", " ") },
      ...(columns.reason.values.some((value) => value !== null)
        ? [{ key: "reason", label: "why none", width: "minmax(100px, 1fr)",
          cell: (row) => String(at("reason", row)).replaceAll("_", " ") }] : []),
      number("steps", "steps"), number("replies", "replies"), number("tokens", "tokens"),
    ],
    item: (row) => item(data, at, row),
  });
}

function item(data, at, row) {
  const name = at("item", row);
  const root = el("article", { class: "item", "aria-label": `Steps of ${name}` }, el("h3", {}, name));
  const command = el("pre", {}, el("code", {}, `judge trace ${at("results", row)} ${name}`));
  if (data.steps[row] === null) {
    root.append(el("p", { class: "nothing" },
      `The steps of ${count(data.n_left, "item")} are not in this page, which would be too large, and these are among `
        + `them.`), command);
    return root;
  }
  const box = el("div", {}, el("p", { class: "nothing" }, "Opening the steps …"));
  root.append(box);
  inflated(data.steps[row]).then((text) => box.replaceChildren(steps(JSON.parse(text)), command));
  return root;
}
