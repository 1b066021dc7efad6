// Who is best, and is that known.

import { el, num } from "../web/el.js";
import { range } from "../web/marks.js";
import { get } from "../web/state.js";
import { table } from "../web/table.js";

export const keys = ["measure"];

/** See page.js. */
export function draw({ id, data, head }) {
  const measure = get("measure", head.measures[0]);
  const rows = data.measures[measure] ?? [];
  return [
    el("p", { class: "lead" }, `Mean ${measure} over topics.`),
    table({
      id, of: id, caption: `Runs by ${measure}`, rows, order: "-mean",
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run_id },
        { key: "mean", label: measure, value: (row) => row.mean, cell: (row) => num(row.mean) },
        { key: "range", label: "0 to 1", isText: true, cell: (row) => range({ value: row.mean }) },
      ],
    }),
  ];
}
