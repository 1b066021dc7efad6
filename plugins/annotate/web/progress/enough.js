// How many labels are still needed for the interval that is wanted, and what they cost in time.

import { count, el, num } from "../../../report/web/el.js";
import { unknown } from "./tables.js";

/** See progress.js. */
export function enough({ measures: all = [], half_width: width, cost, level = 0.95 }, measure) {
  const rows = all.filter((one) => one.measure === measure && needs(one) !== null);
  const wanted = typeof width === "number" ? `±${num(width)}` : "the half-width that is wanted";
  if (!rows.length) return unknown(`How many labels ${wanted} takes is not known yet: it is reckoned from how far labels and judge differ, `
    + "which needs scores that can be corrected. judge annotate --half-width says which width is wanted.");
  const isOpen = all.some((one) => one.measure === measure && needs(one) === null);
  const most = Math.max(...rows.map(needs));
  const worst = rows.find((row) => needs(row) === most);
  const seconds = cost?.seconds_per_label ?? null;
  const least = worst.needed?.least_half_width;
  return [
    el("dl", { class: "facts" },
      fact("labels still needed", most ? count(most) : "none", `for ${wanted} at ${num(100 * level, 0)}% in every run${isOpen ? " that can be corrected so far" : ""}, by ${measure}`),
      fact("time for them", seconds === null ? "–" : hours(most * seconds),
        seconds === null ? "not known before somebody has labelled" : `at ${num(seconds, seconds < 10 ? 1 : 0)} s a label, so far`),
      typeof cost?.amount === "number" ? fact("cost", `${num(cost.amount, 2)} ${cost.currency ?? ""}`, "") : null),
    el("p", { class: "lead" }, most
      ? `${worst.run === "all" ? "The mean of all runs" : worst.run} needs the most. `
      : "Every run's fixed-sample interval is that narrow by now. ",
    "This is about the score that people would give these topics if they labelled everything, with labels drawn as so far.",
    typeof least === "number" && typeof width === "number" && least > width
      ? ` For topics like these, no number of labels gives ${wanted}: with all labelled it would still be ±${num(least)}, which only more topics make less.` : ""),
  ];
}

function needs({ needed }) {
  const number = typeof needed === "object" && needed !== null ? needed.of_these : needed;
  return typeof number === "number" ? number : null;
}

function fact(name, value, more) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null));
}

function hours(seconds) {
  if (!seconds) return "none";
  if (seconds < 5_400) return `${count(Math.ceil(seconds / 60))} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}
