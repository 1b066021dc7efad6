// Hunts for nuggets: how many were found by round, and whether the last one still brought some.

import { count, el } from "../web/el.js";
import { curves } from "../web/curves.js";
import { get } from "../web/state.js";
import { table } from "../web/table.js";

const ENDED = {
  nothing_new: "nothing new was found", rounds: "the rounds were used up",
  calls: "the calls were used up", most: "the list was full",
};

/** What is drawn of the hunts. */
export function hunts(id, rows) {
  const known = rows.filter(({ new: by }) => Array.isArray(by));
  const n = known.filter(({ stop }) => stop === "nothing_new").length;
  const own = get("topic");
  const lines = known.map(({ topic_id: name, new: by, started }) => ({ name, values: sums(by, started ?? 0),
    isOwn: name === own }));
  const most = Math.max(1, ...lines.flatMap(({ values }) => values));
  return [
    el("h3", {}, "Hunts"),
    el("p", { class: "lead" },
      `Nuggets found until each round, a line a topic. A line that has become flat is saturated: ${count(n)} of `
        + `${count(known.length, "topic")} ended because nothing new was found. Where it still rises, facts are `
        + `likely missing.`),
    el("figure", { class: "chart" },
      curves({ id: `${id}.rounds`, lines, y: [0, most], first: 0, xLabel: "round", yLabel: "nuggets",
      label: `Nuggets by round of ${known.length} topics; the table has the numbers` })),
    table({
      id: `${id}.hunts`, of: id, caption: "Hunts by topic", rows: known,
      columns: [
        { key: "topic", label: "topic", isText: true, value: (row) => row.topic_id },
        { key: "new", label: "new by round", isText: true, value: (row) => row.new.join(" + ") },
        { key: "nuggets", label: "nuggets", value: (row) => row.nuggets },
        { key: "calls", label: "calls", value: (row) => row.calls },
        { key: "stop", label: "why it ended", isText: true, value: (row) => ENDED[row.stop] ?? row.stop },
      ],
    }),
  ];
}

function sums(by, started) {
  let sum = started;
  return [started, ...by.map((n) => (sum += n))];
}
