// How many labels are still needed for the interval that is wanted, and what they cost in time.

import { count, el, num } from "../../../report/web/el.js";
import { unknown } from "./tables.js";

/** See progress.js. */
export function enough({ measures: all = [], half_width: width, cost, level = 0.95 }, measure) {
  const rows = all.filter((one) => one.measure === measure && needs(one) !== null);
  const wanted = typeof width === "number" ? `±${num(width)}` : "the target half-width";
  if (!rows.length) return unknown(`It is not yet known how many labels ${wanted} needs: the estimate uses the differences between labels and judge, `
    + "and needs corrected scores first. Set the target with judge annotate --half-width.");
  const isOpen = all.some((one) => one.measure === measure && needs(one) === null);
  const most = Math.max(...rows.map(needs));
  const worst = rows.find((row) => needs(row) === most);
  const seconds = cost?.seconds_per_label ?? null;
  const least = worst.needed?.least_half_width;
  return [
    el("dl", { class: "facts" },
      fact("labels still needed", most ? count(most) : "none", `for ${wanted} at ${num(100 * level, 0)}% in every run${isOpen ? " with a corrected score so far" : ""}, by ${measure}`),
      fact("time needed", seconds === null ? "–" : hours(most * seconds),
        seconds === null ? "unknown until people have labelled" : `at ${num(seconds, seconds < 10 ? 1 : 0)} s a label, so far`),
      typeof cost?.amount === "number" ? fact("cost", `${num(cost.amount, 2)} ${cost.currency ?? ""}`, "") : null),
    el("p", { class: "lead" }, most
      ? `${worst.run === "all" ? "The mean of all runs" : worst.run} needs the most labels. `
      : "The fixed-sample interval of every run is narrow enough. ",
    "The estimate is for these topics, compared with labels from people for every item, and assumes that you go on drawing labels the same way.",
    typeof least === "number" && typeof width === "number" && least > width
      ? ` For other topics like these, no number of labels gives ${wanted}: even with all items labelled it would be ±${num(least)}. Only more topics make it narrower.` : ""),
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
