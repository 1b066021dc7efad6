// The people who label: how far, how fast, how often they cannot tell, and how well they agree with themselves.

import { count, el, num } from "../../../report/web/el.js";
import { figures, unknown } from "./tables.js";

/** See progress.js. */
export function people({ sessions = [], people: measured = [] }) {
  const about = new Map(measured.map((one) => [one.annotator, one]));
  const rows = sessions.map((session) => ({ ...session, ...about.get(session.annotator) }));
  if (!rows.length) return unknown("Nobody has a queue yet.");
  const some = rows.filter((row) => known(itself(row)));
  return [
    el("p", { class: "lead" }, "Labels per hour are per hour of active time, without pauses of more than a minute. Self-agreement "
      + "is the share of repeated items that got the same label both times."),
    figures("People", [
      { label: "person", isText: true, cell: ({ annotator }) => annotator },
      { label: "done", cell: ({ done }) => count(done ?? 0) },
      { label: "of", cell: ({ total }) => count(total ?? 0) },
      { label: "per hour", cell: (row) => speed(row) },
      { label: "cannot tell", cell: (row) => share(row.cannot_tell, row.labels ?? row.done) },
      { label: "self-agreement", cell: (row) => (known(itself(row)) ? [num(itself(row).value, 2), of(itself(row).n)] : "–") },
      { label: "seconds per label: first, last quarter", title: "medians", cell: ({ speed: times }) => pace(times) },
      { label: "flagged", cell: ({ flagged }) => number(flagged) },
      { label: "skipped", title: "left for later and still without a label", cell: ({ skipped }) => number(skipped) },
    ], rows),
    some.length ? null : unknown("Self-agreement is not known yet: nobody has reached a repeated item. One item in twenty "
      + "is repeated, ten items later or more."),
  ];
}

const number = (n) => (typeof n === "number" ? count(n) : "–");
const itself = ({ self_agreement: self }) => self?.equal ?? self;
const pace = (times) => (typeof times?.first_median === "number"
  ? `${num(times.first_median, 1)}, ${num(times.last_median, 1)}` : "–");
const known = (self) => typeof self?.value === "number";
const of = (n) => el("small", {}, ` of ${count(n)}`);

function speed({ per_hour: rate, done, active_ms: ms }) {
  const perHour = rate ?? (done && ms ? (done * 3_600_000) / ms : null);
  return perHour === null ? "–" : count(Math.round(perHour));
}

function share(n, all) {
  if (n === undefined || n === null) return "–";
  return all ? [count(n), el("small", {}, ` ${num((100 * n) / all, 0)}%`)] : count(n);
}
