// Hunts for nuggets: how many were found by round, and whether the last one still brought some.

import { count, el } from "../web/el.js";
import { table } from "../web/table.js";

const ENDED = {
  nothing_new: "nothing new was found", rounds: "the rounds were used up",
  calls: "the calls were used up", most: "the list was full",
};

/** What is drawn of the hunts. */
export function hunts(id, rows) {
  const known = rows.filter(({ new: by }) => Array.isArray(by));
  const n = known.filter(({ stop }) => stop === "nothing_new").length;
  return [
    el("h3", {}, "Hunts"),
    el("p", { class: "lead" },
      `${count(n)} of ${count(known.length, "topic")} ended because nothing new was found. Where the last round still `
        + `found some, facts are likely missing.`),
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
