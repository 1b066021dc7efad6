// Is one run better than another, topic by topic. `judge compare` prints all pairs.

import { count, el, num, svg } from "../el.js";
import { cellsOf, choice, counted, has, measureOf, nameOf, reasonText, unknown } from "../runs.js";
import { get, go, link } from "../state.js";
import { table } from "../table.js";

export const keys = ["measure", "run", "other"];

/** See page.js. */
export function draw({ id, data, head }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const given = data.measures[measure];
  const { runs } = given;
  const first = nameOf("run", runs) || runs.find((run) => run !== get("other")) || runs[0];
  const second = [nameOf("other", runs), ...runs].find((run) => run && run !== first);
  const notTested = (name) =>
    `This page does not test pairs by ${name}; judge compare RESULTS --measure ${name} does. This shows ${measure}.`;
  return [
    el(
      "div",
      { class: "controls" },
      choice(id, "measure", "Measure", available, measure),
      choice(id, "run", "Run", runs, first),
      choice(
        id,
        "other",
        "against",
        runs.filter((run) => run !== first),
        second,
      ),
    ),
    ...unknown(head, available, notTested),
    el("h3", {}, `${first} against ${second}`),
    el(
      "p",
      { class: "lead" },
      verdict(given, measure, tests(given, runs.indexOf(first), runs.indexOf(second))),
      el(
        "button",
        { type: "button", class: "quiet", onclick: () => go(id, { run: second, other: first }) },
        "Swap",
      ),
    ),
    byTopic(id, head, measure, first, second),
  ];
}

/** The tests of the first of two runs, by their indices, minus the second. */
function tests(given, i, j) {
  const [a, b, sign] = i < j ? [i, j, 1] : [j, i, -1];
  const index = (a * (2 * given.runs.length - a - 1)) / 2 + (b - a - 1);
  const [low, high] = [given.low[index], given.high[index]]
    .map((x) => (x === null ? null : sign * x))
    .sort((x, y) => x - y);
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
    apart: given.is_significant[index],
  };
}

function verdict({ runs, n_topics: n, n_topics_all_judged: nAll, test, least_topics: least }, measure, of) {
  const corrected = runs.length > 2 ? `, ${test === "HSD" ? "HSD" : "Holm"} ${chance(of.corrected)}` : "";
  const interval =
    of.low === null ? "no interval" : `95% interval ${num(of.low, 3, true)} to ${num(of.high, 3, true)}`;
  const found = { 1: "significantly different", 0: "no significant difference" }[of.apart] ?? "no shared topic";
  const part = test === "HSD" && nAll < n ? `HSD uses the ${nAll} of ${n} topics on which every run has a score. ` : "";
  const few = least
    ? `Too few shared topics to find differences between ${runs.length} runs: at least ${least} are needed. `
    : "";
  return (
    `${num(of.difference, 3, true)} ${measure}, ${interval}; p ${chance(of.p)}${corrected}: ${found}. ` +
    `Higher on ${count(of.wins, "topic")}, equal on ${count(of.ties)}, lower on ${count(of.losses)}. ${part}${few}`
  );
}

/** A p-value with two digits, more where two would move it across .05; as `format_p` of views/numbers.py. */
function chance(p) {
  if (p === null) return "–";
  if (p < 0.01) return "< .01";
  return num(p, [2, 3].find((digits) => Number(p.toFixed(digits)) < 0.05 === p < 0.05) ?? 4);
}

function byTopic(id, head, measure, first, second) {
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
  const why = (row, side) => (row.why[side] ? reasonText(row.why[side]) : "");
  const shown = (value, words) => (value === null ? words || "–" : words ? `${num(value)} (${words})` : num(value));
  const to = has(head, "sides") ? "sides" : has(head, "matrix") ? "matrix" : has(head, "answer") ? "answer" : id;
  return table({
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
        label: "first",
        title: first,
        value: (row) => row.one,
        cell: (row) => shown(row.one, why(row, 0)),
      },
      {
        key: "other",
        label: "second",
        title: second,
        value: (row) => row.other,
        cell: (row) => shown(row.other, why(row, 1)),
      },
      { key: "by", label: "difference", value: (row) => row.by, cell: (row) => num(row.by, 3, true) },
      { key: "bar", label: "lower | higher", isText: true, cell: (row) => bar(row.by, widest) },
    ],
  });
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
