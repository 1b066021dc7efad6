// The people who label: how far, how fast, how often they cannot tell, and how well they agree with themselves.

import { count, el, num } from "../../../report/web/el.js";
import { figures, unknown } from "./tables.js";

/** See progress.js. */
export function people({ sessions = [], people: measured = [] }) {
  const about = new Map(measured.map((one) => [one.annotator, one]));
  const rows = sessions.map((session) => ({ ...session, ...about.get(session.annotator) }));
  if (!rows.length) return unknown("Nobody has a queue.");
  const some = rows.filter((row) => known(itself(row)));
  return [
    el("p", { class: "lead" }, "Labels an hour are of active time: pauses of more than a minute are left out. Agreement with "
      + "oneself is the share of items, shown a second time, that got the same label."),
    figures("People", [
      { label: "person", isText: true, cell: ({ annotator }) => annotator },
      { label: "done", cell: ({ done }) => count(done ?? 0) },
      { label: "of", cell: ({ total }) => count(total ?? 0) },
      { label: "an hour", cell: (row) => speed(row) },
      { label: "cannot tell", cell: (row) => share(row.cannot_tell, row.labels ?? row.done) },
      { label: "self-agreement", cell: (row) => (known(itself(row)) ? [num(itself(row).value, 2), of(itself(row).n)] : "–") },
      { label: "seconds per label: first, last quarter", title: "medians", cell: ({ speed: times }) => pace(times) },
      { label: "flagged", cell: ({ flagged }) => number(flagged) },
      { label: "skipped", title: "left for later, and without a label so far", cell: ({ skipped }) => number(skipped) },
    ], rows),
    some.length ? null : unknown("How well people agree with themselves is not known yet: nobody has come to an item for the "
      + "second time. One in twenty comes again, ten items later or more."),
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
