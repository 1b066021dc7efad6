// Scores corrected with labels, each with a confidence sequence and a fixed-sample interval.

import { range } from "../../../report/web/charts.js";
import { count, el, num } from "../../../report/web/el.js";
import { figures, isPair, unknown } from "./tables.js";

const WIDTH = 220;
const ALL = "all"; // the row that is of all runs together

/** The measures that there are figures of, in their order. */
export function measures({ measures: all = [] }) {
  return [...new Set(all.map(({ measure }) => measure))];
}

/** See progress.js. */
export function scores({ measures: all = [], level = 0.95, reason }, measure) {
  const rows = all.filter((one) => one.measure === measure);
  if (!rows.length) return unknown(`No score can be corrected yet: ${
    reason ?? "a correction needs 20 labels of randomly drawn items, on 5 topics or more"}.`);
  const ends = rows.flatMap(({ judged, corrected, fixed, sequence }) => [judged, corrected, ...(isPair(fixed) ? fixed : []),
    ...(isPair(sequence) ? sequence : [])]).filter((one) => typeof one === "number");
  const scale = [Math.min(0, ...ends), Math.max(1, ...ends)];
  const open = rows.filter(({ corrected }) => typeof corrected !== "number");
  const percent = `${num(100 * level, 0)}%`;
  return [
    el("p", { class: "lead" }, `Dot: the judge's score. Diamond: corrected with people's labels. Band: ${percent} confidence sequence, `
      + "valid at any time, so you can stop whenever you like. Line: fixed-sample interval, valid only if you set the number "
      + "of labels in advance and look once. Watch the band; report the line if you set the number in advance."),
    legend(),
    figures(`Corrected scores by ${measure}`, [
      { label: "run", isText: true, cell: ({ run }) => el("span", { class: "run" }, run === ALL ? "all runs, mean" : run) },
      { label: "judge", cell: ({ judged }) => num(judged) },
      { label: "corrected", cell: ({ corrected }) => el("b", {}, num(corrected)) },
      { label: `${num(scale[0], scale[0] ? 1 : 0)} to ${num(scale[1], scale[1] > 1 ? 1 : 0)}`, isText: true, cell: (row) => drawn(row, scale) },
      { label: "confidence sequence", cell: ({ sequence }) => between(sequence) },
      { label: "fixed sample", cell: ({ fixed }) => between(fixed) },
      { label: "labels", cell: ({ n_labels: n }) => (typeof n === "number" ? count(n) : "–") },
    ], rows),
    open.length ? reasons(open) : null,
    [...new Set(rows.flatMap(({ warnings = [] }) => warnings))].map((words) => el("p", { class: "warn" }, words)),
  ];
}

function reasons(open) {
  const all = [...new Set(open.map(({ reason }) => reason ?? "too few labels"))];
  return unknown(`${count(open.length, "score")} not corrected yet: ${all.join("; ")}.`);
}

function drawn({ judged, corrected, sequence, fixed }, scale) {
  const mark = range({ value: judged, corrected, interval: isPair(fixed) ? fixed : null,
    sequence: isPair(sequence) ? sequence : null }, scale, WIDTH);
  const words = [`judge ${num(judged)}`, typeof corrected === "number" ? `corrected ${num(corrected)}` : "not corrected yet",
    isPair(sequence) ? `confidence sequence ${between(sequence)}` : null, isPair(fixed) ? `fixed sample ${between(fixed)}` : null];
  mark.setAttribute("aria-label", words.filter(Boolean).join(", "));
  return mark;
}

function between(pair) {
  return isPair(pair) ? `${num(pair[0])} to ${num(pair[1])}` : "–";
}

function legend() {
  const sample = (words, of) => el("li", {}, range(of, [0, 1], 64), words);
  const list = [
    sample("the judge", { value: 0.5 }), sample("corrected", { corrected: 0.5 }),
    sample("confidence sequence", { sequence: [0.1, 0.9] }), sample("fixed sample", { interval: [0.25, 0.75] }),
  ];
  for (const item of list) {
    item.firstChild.setAttribute("aria-hidden", "true");
    item.firstChild.removeAttribute("role");
    item.firstChild.removeAttribute("aria-label");
  }
  return el("ul", { class: "marks-meant", "aria-label": "Marks" }, list);
}
