// Two runs against each other, topic by topic.

import { count, el, num, svg } from "../web/el.js";
import { go, link } from "../web/state.js";
import { table } from "../web/table.js";
import { cellsOf, counted, reasonText } from "./cells.js";
import { has } from "./chosen.js";

/** Index of a pair in the lists, and whether it stands there the other way round. */
export function pairOf(n, i, j) {
  const [a, b] = i < j ? [i, j] : [j, i];
  return { index: (a * (2 * n - a - 1)) / 2 + (b - a - 1), sign: i < j ? 1 : -1 };
}

/** The tests of the first of two runs, by their indices, less the second. */
export function figures(given, i, j) {
  const { index, sign } = pairOf(given.runs.length, i, j);
  const [low, high] = [given.low[index], given.high[index]]
    .map((x) => (x === null ? null : sign * x))
    .sort((a, b) => a - b);
  const [wins, losses] = [given.wins[index], given.losses[index]];
  return {
    difference: given.difference[index] === null ? null : sign * given.difference[index],
    low,
    high,
    p: given.p[index],
    corrected: (given.test === "HSD" ? given.p_hsd : given.p_holm)[index],
    wins: sign > 0 ? wins : losses,
    ties: given.ties[index],
    losses: sign > 0 ? losses : wins,
    apart: { 1: "yes", 0: "no" }[given.is_told_apart[index]] ?? "not tested",
  };
}

/** A p-value as text. */
export function chance(p) {
  return p === null ? "–" : p < 0.0001 ? "< .0001" : num(p, 4);
}

/** What stands below the table of all pairs: the two that are chosen, by topic. */
export function detail(id, head, given, measure, first, second) {
  const tests = figures(given, given.runs.indexOf(first), given.runs.indexOf(second));
  const cells = cellsOf(head, measure);
  const [a, b] = [head.runs.indexOf(first), head.runs.indexOf(second)];
  const rows = cells.topics.map((topic) => {
    const [one, other] = [counted(cells, a, topic), counted(cells, b, topic)];
    return {
      topic: head.topics[topic],
      one,
      other,
      by: one === null || other === null ? null : one - other,
      why: [cells.why(a, topic), cells.why(b, topic)],
    };
  });
  const widest = Math.max(0.001, ...rows.map((row) => Math.abs(row.by ?? 0)));
  const corrected = given.runs.length > 2 ? `, ${given.test === "HSD" ? "HSD" : "Holm"} ${chance(tests.corrected)}` : "";
  const interval =
    tests.low === null ? "no interval" : `95% interval ${num(tests.low, 3, true)} to ${num(tests.high, 3, true)}`;
  const verdict =
    { yes: "significantly different", no: "no significant difference" }[tests.apart] ?? "no topic that both have";
  const why = (row, side) => (row.why[side] ? reasonText(row.why[side]) : "");
  const shown = (value, words) => (value === null ? words || "–" : words ? `${num(value)} (${words})` : num(value));
  const to = has(head, "sides") ? "sides" : has(head, "matrix") ? "matrix" : has(head, "answer") ? "answer" : id;
  return [
    el("h3", {}, `${first} against ${second}`),
    el(
      "p",
      { class: "lead" },
      `${num(tests.difference, 3, true)} ${measure}, ${interval}; p ${chance(tests.p)}${corrected}: ${verdict}. ` +
        `Higher on ${count(tests.wins, "topic")}, equal on ${count(tests.ties)}, lower on ${count(tests.losses)}. `,
      el(
        "button",
        { type: "button", class: "quiet", onclick: () => go(id, { run: second, other: first }) },
        "Turn round",
      ),
    ),
    table({
      id: `${id}.by`,
      of: id,
      measure,
      caption: `${first} and ${second} by topic`,
      rows,
      order: "-by",
      columns: [
        {
          key: "topic",
          label: "topic",
          isText: true,
          value: (row) => row.topic,
          cell: (row) =>
            el("a", { href: link(to, { run: first, other: second, topic: row.topic, measure, item: "" }) }, row.topic),
        },
        {
          key: "one",
          label: "the first",
          title: first,
          value: (row) => row.one,
          cell: (row) => shown(row.one, why(row, 0)),
        },
        {
          key: "other",
          label: "the second",
          title: second,
          value: (row) => row.other,
          cell: (row) => shown(row.other, why(row, 1)),
        },
        { key: "by", label: "difference", value: (row) => row.by, cell: (row) => num(row.by, 3, true) },
        { key: "bar", label: "lower | higher", isText: true, cell: (row) => bar(row.by, widest) },
      ],
    }),
  ];
}

function bar(by, widest) {
  const [width, middle] = [200, 100];
  const length = by === null ? 0 : (Math.abs(by) / widest) * (middle - 4);
  return svg(
    "svg",
    { class: "bar", width, height: 14, role: "img", "aria-label": num(by, 3, true) },
    svg("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: 14 }),
    by
      ? svg("rect", {
          class: by > 0 ? "up" : "down",
          x: by > 0 ? middle : middle - length,
          y: 3,
          width: length,
          height: 8,
        })
      : null,
  );
}
