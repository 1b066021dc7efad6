// Is one run better than another.

import { count, el, num, svg } from "../web/el.js";
import { get, go, link } from "../web/state.js";
import { table } from "../web/table.js";
import { cellsOf, counted, said } from "./cells.js";
import { choice, has, measureOf, nameOf, unknown } from "./chosen.js";

export const keys = ["measure", "run", "other"];

const MOST = 60; // runs, up to which all pairs stand in a table

/** See page.js. */
export function draw({ id, data, head }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const given = data.measures[measure];
  const { runs } = given;
  const first = nameOf("run", runs) || runs.find((run) => run !== get("other")) || runs[0];
  const second = [nameOf("other", runs), ...runs].find((run) => run && run !== first);
  const notTested = (name) => `Pairs are not tested by ${name} here: judge compare RESULTS --measure ${name} does. Below by ${measure}.`;
  return [
    el("div", { class: "controls" },
      choice(id, "measure", "Measure", available, measure),
      choice(id, "run", "Run", runs, first),
      choice(id, "other", "against", runs.filter((run) => run !== first), second)),
    ...unknown(head, available, notTested),
    el("p", { class: "lead" }, sentence(given, measure)),
    runs.length > MOST ? neighbours(id, given, measure) : matrix(id, given, measure, first, second),
    ...detail(id, head, given, measure, first, second),
  ];
}

function sentence({ runs, n_topics, n_topics_all_judged, is_told_apart }, measure) {
  const apart = is_told_apart.replaceAll(/[^1]/g, "").length;
  const test = runs.length > 2 ? "HSD p < .05" : "p < .05";
  const part = n_topics_all_judged < n_topics ? ` HSD rests on the ${n_topics_all_judged} of ${n_topics} topics on which every run was judged.` : "";
  return `Difference of mean ${measure}, the run of the row less that of the column; bold with ▲ or ▼: told apart (${test}), ` +
    `${count(apart)} of ${count(is_told_apart.length, "pair")}.${part} Choose a cell for the topics behind it.`;
}

/** Place of a pair in the lists, and whether it stands there the other way round. */
function pairOf(n, i, j) {
  const [a, b] = i < j ? [i, j] : [j, i];
  return { place: (a * (2 * n - a - 1)) / 2 + (b - a - 1), sign: i < j ? 1 : -1 };
}

function matrix(id, given, measure, first, second) {
  const { runs } = given;
  const head = runs.map((run, j) => el("th", { scope: "col", title: run, "aria-label": run }, String(j + 1)));
  const [i0, j0] = [runs.indexOf(first), runs.indexOf(second)];
  const cell = (i, j) => {
    if (i === j) return el("td", { class: "itself" }, "");
    const { place, sign } = pairOf(runs.length, i, j);
    const difference = given.difference[place];
    const value = difference === null ? null : sign * difference;
    const isApart = given.is_told_apart[place] === "1";
    const mark = isApart ? (value > 0 ? "▲" : "▼") : "";
    const isCurrent = i === i0 && j === j0;
    const name = `${runs[i]} less ${runs[j]}: ${num(value, 3, true)}${isApart ? ", told apart" : ""}`;
    return el("td", { class: isApart ? (value > 0 ? "more" : "less") : null },
      el("a", { href: link(id, { run: runs[i], other: runs[j], measure }), title: name, "aria-label": name,
        tabindex: isCurrent ? "0" : "-1", "aria-current": isCurrent ? "true" : null }, mark, num(value, 2, true)));
  };
  const body = runs.map((run, i) => el("tr", {},
    el("th", { scope: "row", title: run }, el("small", {}, `${i + 1} `), run), runs.map((_, j) => cell(i, j))));
  const figure = el("figure", { class: "grid", onkeydown: move },
    el("div", { class: "scroll", role: "region", "aria-label": `Pairs by ${measure}` },
      el("table", {}, el("caption", { class: "unseen" }, `Differences of ${measure} between all pairs of runs`),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), head)), el("tbody", {}, body))));
  keepPlace(id, figure);
  return figure;
}

/** Arrow keys go from cell to cell, past those on the diagonal. */
function move(event) {
  const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const from = event.target.closest("td");
  if (!by || !from) return;
  event.preventDefault();
  const rows = [...event.currentTarget.querySelectorAll("tbody tr")];
  let [i, j] = [rows.indexOf(from.parentElement), from.cellIndex];
  do [i, j] = [i + by[0], j + by[1]];
  while (rows[i]?.cells[j] && j > 0 && !rows[i].cells[j].firstElementChild);
  const to = j > 0 ? rows[i]?.cells[j]?.firstElementChild : null;
  if (!to) return;
  from.firstElementChild.setAttribute("tabindex", "-1");
  to.setAttribute("tabindex", "0");
  to.focus();
}

/** Where the table was scrolled to and what was focused stays, though it is drawn anew. */
function keepPlace(id, figure) {
  const before = document.querySelector(`#${id} .grid .scroll`);
  const wasFocused = before?.contains(document.activeElement);
  const [left, top] = [before?.scrollLeft ?? 0, before?.scrollTop ?? 0];
  queueMicrotask(() => {
    const now = figure.querySelector(".scroll");
    now.scrollTo(left, top);
    if (wasFocused) now.querySelector("a[aria-current]")?.focus({ preventScroll: true });
  });
}

function neighbours(id, given, measure) {
  const { runs } = given;
  const rows = runs.slice(1).map((run, i) => ({ i, run: runs[i], other: run, ...figures(given, i, i + 1) }));
  return table({
    id: `${id}.steps`, of: id, caption: `Each run against the next by ${measure}`, rows, order: "rank",
    columns: [
      { key: "run", label: "run", isText: true, value: (row) => row.run, cell: (row) => el("a", { href: link(id, { run: row.run, other: row.other }) }, row.run) },
      { key: "other", label: "the next", isText: true, value: (row) => row.other },
      { key: "rank", label: "rank", value: (row) => row.i + 1 },
      { key: "difference", label: "difference", value: (row) => row.difference, cell: (row) => num(row.difference, 3, true) },
      { key: "p", label: "p", value: (row) => row.p, cell: (row) => chance(row.p) },
      { key: "hsd", label: "p, HSD", value: (row) => row.p_hsd, cell: (row) => chance(row.p_hsd) },
      { key: "apart", label: "told apart", isText: true, value: (row) => row.apart },
    ],
  });
}

function figures(given, i, j) {
  const { place, sign } = pairOf(given.runs.length, i, j);
  const [low, high] = [given.low[place], given.high[place]].map((x) => (x === null ? null : sign * x)).sort((a, b) => a - b);
  const [wins, losses] = [given.wins[place], given.losses[place]];
  return {
    difference: given.difference[place] === null ? null : sign * given.difference[place], low, high,
    p: given.p[place], p_holm: given.p_holm[place], p_hsd: given.p_hsd[place],
    wins: sign > 0 ? wins : losses, ties: given.ties[place], losses: sign > 0 ? losses : wins,
    apart: { 1: "yes", 0: "no" }[given.is_told_apart[place]] ?? "not known",
  };
}

function chance(p) {
  return p === null ? "–" : p < 0.0001 ? "< .0001" : num(p, 4);
}

function detail(id, head, given, measure, first, second) {
  const found = figures(given, given.runs.indexOf(first), given.runs.indexOf(second));
  const cells = cellsOf(head, measure);
  const [a, b] = [head.runs.indexOf(first), head.runs.indexOf(second)];
  const isOfAnswered = false;
  const rows = cells.topics.map((topic) => {
    const [one, other] = [counted(cells, a, topic, isOfAnswered), counted(cells, b, topic, isOfAnswered)];
    return { topic: head.topics[topic], one, other, by: one === null || other === null ? null : one - other, why: [cells.why(a, topic), cells.why(b, topic)] };
  });
  const widest = Math.max(0.001, ...rows.map((row) => Math.abs(row.by ?? 0)));
  const corrected = given.runs.length > 2 ? `, Holm ${chance(found.p_holm)}, HSD ${chance(found.p_hsd)}` : "";
  const interval = found.low === null ? "no interval" : `95% interval ${num(found.low, 3, true)} to ${num(found.high, 3, true)}`;
  const verdict = { yes: "told apart", no: "not told apart" }[found.apart] ?? "whether they can be told apart is not known";
  const why = (row, side) => (row.why[side] ? said(row.why[side]) : "");
  const shown = (value, words) => (value === null ? words || "–" : words ? `${num(value)} (${words})` : num(value));
  const to = has(head, "matrix") ? "matrix" : has(head, "answer") ? "answer" : id;
  return [
    el("h3", {}, `${first} against ${second}`),
    el("p", { class: "lead" }, `${num(found.difference, 3, true)} ${measure}, ${interval}; p ${chance(found.p)}${corrected}: ${verdict}. ` +
      `Higher on ${count(found.wins, "topic")}, equal on ${count(found.ties)}, lower on ${count(found.losses)}. `,
    el("button", { type: "button", class: "quiet", onclick: () => go(id, { run: second, other: first }) }, "Turn round")),
    table({
      id: `${id}.by`, of: id, caption: `${first} and ${second} by topic`, rows, order: "-by",
      columns: [
        { key: "topic", label: "topic", isText: true, value: (row) => row.topic,
          cell: (row) => el("a", { href: link(to, { run: first, other: second, topic: row.topic, measure }) }, row.topic) },
        { key: "one", label: "the first", title: first, value: (row) => row.one, cell: (row) => shown(row.one, why(row, 0)) },
        { key: "other", label: "the second", title: second, value: (row) => row.other, cell: (row) => shown(row.other, why(row, 1)) },
        { key: "by", label: "difference", value: (row) => row.by, cell: (row) => num(row.by, 3, true) },
        { key: "bar", label: "lower | higher", isText: true, cell: (row) => bar(row.by, widest) },
      ],
    }),
  ];
}

function bar(by, widest) {
  const [width, middle] = [200, 100];
  const length = by === null ? 0 : (Math.abs(by) / widest) * (middle - 4);
  return svg("svg", { class: "bar", width, height: 14, role: "img", "aria-label": num(by, 3, true) },
    svg("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: 14 }),
    by ? svg("rect", { class: by > 0 ? "up" : "down", x: by > 0 ? middle : middle - length, y: 3, width: length, height: 8 }) : null);
}
