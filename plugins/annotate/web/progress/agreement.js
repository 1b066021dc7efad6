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
      el("p", { class: "lead" }, `${measured.name ?? "Cohen's kappa"}: 1 is perfect, 0 what chance would give. No judge can be `
        + "expected to agree with people better than they do with each other. Whisker: 95% interval over topics."),
      figures("Agreement", [
        { label: "who", isText: true, cell: ({ name }) => name },
        { label: "kappa", cell: ({ value }) => el("b", {}, num(value, 2)) },
        { label: `${num(least, least ? 2 : 0)} to 1`, isText: true, cell: (row) => range({ value: row.value, interval: bounds(row) }, [least, 1], 180) },
        { label: "95% interval", cell: (row) => (bounds(row) ? `${num(row.lo, 2)} to ${num(row.hi, 2)}` : "–") },
        { label: "items", cell: ({ n }) => (typeof n === "number" ? count(n) : "–") },
      ], rows),
    ] : null,
    typeof kappa?.value === "number" ? null : unknown(`How far the judge agrees with people is not known yet: ${
      kappa?.reason ?? "it takes labels of items that the judge labelled too, with two labels or more among them"}.`),
    typeof ceiling?.value === "number" ? null : unknown(`The ceiling is not known yet: ${
      ceiling?.reason ?? `it takes items that two people labelled.${shared(overlap)}`}.`),
    led(anchoring),
  ];
}

/** What share of each queue all people get. */
function shared(overlap) {
  if (typeof overlap !== "number") return "";
  return overlap ? ` ${num(100 * overlap, 0)}% of each queue is shared for this (--overlap), and comes first`
    : " No items are shared here (--overlap 0)";
}

const bounds = ({ lo, hi }) => (typeof lo === "number" && typeof hi === "number" ? [lo, hi] : null);

/** Control items: a label was shown that the judge did not give. */
function led(shares) {
  if (shares === undefined || shares === null) return null; // labels from scratch: nothing is shown
  const title = el("h3", {}, "Are people led by what they are shown?");
  const { kept_controls: wrong, kept, equal_unseen: unseen } = shares;
  if (!wrong?.n) return [title, unknown("Not known yet: nobody has come to a control item, which shows a label that the "
    + "judge did not give. One in twenty does.")];
  return [title, el("p", { class: "lead" }, `${count(wrong.n_of)} of ${count(wrong.n)} labels that the judge never gave were `
    + `kept when they were shown (${percent(wrong.value)}; interval ${percent(wrong.low)} to ${percent(wrong.high)}). `,
    kept?.n ? `Of those that it gave, ${percent(kept.value)} were kept` : "",
    kept?.n && unseen?.n ? `; where none was shown, ${percent(unseen.value)} of labels were the judge's. ` : kept?.n ? ". " : "",
    "The fewer wrong ones are kept, the less people are led.")];
}

function percent(value) {
  return `${num(100 * value, 0)}%`;
}
