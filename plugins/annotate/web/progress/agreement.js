// The judge against people, beside people against each other, which is the ceiling; and how far people are led.

import { range } from "../../../report/web/charts.js";
import { count, el, num } from "../../../report/web/el.js";
import { figures, unknown } from "./tables.js";

/** See progress.js. */
export function agreement({ agreement: measured, anchoring, overlap }) {
  const [kappa, ceiling] = [measured?.kappa, measured?.ceiling];
  const rows = [
    { name: "the judge against people", ...kappa }, { name: "people against each other, the ceiling", ...ceiling },
  ].filter(({ value }) => typeof value === "number");
  const least = Math.min(0, ...rows.flatMap(({ value, lo }) => [value, lo ?? 0]));
  return [
    rows.length ? [
      el("p", { class: "lead" }, `${measured.name ?? "Cohen's kappa"}: 1 is perfect, 0 is chance. Do not expect a judge `
        + "to agree with people better than people agree with each other. Whisker: 95% interval over topics."),
      figures("Agreement", [
        { label: "who", isText: true, cell: ({ name }) => name },
        { label: "kappa", cell: ({ value }) => el("b", {}, num(value, 2)) },
        { label: `${num(least, least ? 2 : 0)} to 1`, isText: true, cell: (row) => range({ value: row.value, interval: bounds(row) }, [least, 1], 180) },
        { label: "95% interval", cell: (row) => (bounds(row) ? `${num(row.lo, 2)} to ${num(row.hi, 2)}` : "–") },
        { label: "items", cell: ({ n }) => (typeof n === "number" ? count(n) : "–") },
      ], rows),
    ] : null,
    typeof kappa?.value === "number" ? null : unknown(`The agreement of the judge with people is not known yet: ${
      kappa?.reason ?? "it needs items that people and the judge labelled, with at least two different labels"}.`),
    typeof ceiling?.value === "number" ? null : unknown(`The ceiling is not known yet: ${
      ceiling?.reason ?? `it needs items that two people labelled.${shared(overlap)}`}.`),
    led(anchoring),
  ];
}

/** What share of each queue all people get. */
function shared(overlap) {
  if (typeof overlap !== "number") return "";
  return overlap ? ` For this, ${num(100 * overlap, 0)}% of each queue is shared and comes first (--overlap)`
    : " No items are shared (--overlap 0)";
}

const bounds = ({ lo, hi }) => (typeof lo === "number" && typeof hi === "number" ? [lo, hi] : null);

/** Control items: a label was shown that the judge did not give. */
function led(shares) {
  if (shares === undefined || shares === null) return null; // labels from scratch: nothing is shown
  const title = el("h3", {}, "Does the shown label influence people?");
  const { kept_controls: wrong, kept, equal_unseen: unseen } = shares;
  if (!wrong?.n) return [title, unknown("Not known yet: nobody has reached a control item, which shows a label that the "
    + "judge did not give. One item in twenty is a control.")];
  return [title, el("p", { class: "lead" }, `People kept ${count(wrong.n_of)} of ${count(wrong.n)} labels that the judge never gave `
    + `(${percent(wrong.value)}; interval ${percent(wrong.low)} to ${percent(wrong.high)}). `,
    kept?.n ? `They kept ${percent(kept.value)} of the labels that the judge gave` : "",
    kept?.n && unseen?.n ? `; without a shown label, ${percent(unseen.value)} of their labels equalled the judge's. ` : kept?.n ? ". " : "",
    "The fewer wrong labels people keep, the less they are influenced.")];
}

function percent(value) {
  return `${num(100 * value, 0)}%`;
}
