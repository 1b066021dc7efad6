// On which topics does a run do well? Means by domain, category or length of documents, as a radar and a table.

import { count, el, num, short, svg } from "../el.js";
import { choice, measureOf, nameOf, unknown } from "../runs.js";
import { saves } from "../save.js";
import { get, link } from "../state.js";
import { table } from "../table.js";

export const keys = ["measure", "by", "run"];

const [WIDTH, HEIGHT, RADIUS] = [760, 400, 150];
const [X, Y] = [300, 200]; // the middle of a radar
const MOST = 9; // runs that are drawn
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a8f98", "currentColor", "#882255"];

/** See page.js. */
export function draw({ id, data, head }) {
  const kinds = Object.keys(data.by);
  const by = kinds.includes(get("by")) ? get("by") : kinds[0];
  const available = Object.keys(data.by[by]);
  const measure = measureOf(head, available);
  const { groups, n, runs } = data.by[by][measure];
  const chosen = nameOf("run", runs.map(({ run }) => run));
  const names = groups.map(([name]) => name || "(none)");
  const lines = drawnOf(runs, chosen);
  const isRadar = by !== "documents" && groups.length > 2;
  const drawing = isRadar ? radar(id, measure, groups, lines, chosen) : null;
  const what = by === "documents" ? "words of the documents" : by;
  const missing = runs.reduce((sum, { means }) => sum + (means[0]?.[2] ?? 0), 0);
  return [
    el("div", { class: "controls" }, choice(id, "by", "Topics by", kinds, by), choice(id, "measure", "Measure", available, measure)),
    ...unknown(head, available, (name) => `${name} has no means by ${what}; this shows ${measure}.`),
    el("p", { class: "lead" },
      `Mean ${measure} by ${what}, ${count(n, "topic")}. In the mean over all, each topic has the same weight. `
        + `A mean over few topics is uncertain.${missing ? ` ${count(missing, "judgement")} failed; means are over the others.` : ""}`
        + `${drawing && runs.length > MOST ? ` The first ${MOST} runs are drawn.` : ""}`),
    ...(drawing ? [el("div", { class: "plot" }, drawing), el("p", { class: "under" }, saves({
      id: `${id}.radar`, measure, title: `${measure} by ${what}`, drawn: () => drawing,
      rows: (isPrinted) => [["run", ...names], ...runs.map(({ run, means }) =>
        [run, ...means.slice(1).map((mean) => (isPrinted ? num(valueOf(mean)) : valueOf(mean)))])] }))] : []),
    table({
      id: `${id}.table`, of: id, caption: `${measure} by ${what}`, measure, rows: runs, order: "", current: "run",
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run,
          cell: (row) => el("a", { class: "run", title: row.run, href: link(id, { run: row.run === chosen ? "" : row.run }) }, row.run) },
        column("all", "all", n, 0),
        ...groups.map(([, size], i) => column(`g${i}`, names[i], size, i + 1)),
      ],
    }),
  ];
}

function column(key, label, n, at) {
  return { key, label: `${label} (${count(n)})`, value: ({ means }) => valueOf(means[at]), cell: ({ means }) => {
    const [, judged, lost] = means[at] ?? [];
    return el("span", { title: means[at] ? `${count(judged, "judgement")}${lost ? `, ${count(lost)} failed` : ""}` : null },
      num(valueOf(means[at])));
  } };
}

/** A mean; null if the run answered but nothing was judged. */
function valueOf(mean) {
  return mean && (mean[1] || !mean[2]) ? mean[0] : null;
}

/** The first runs; the chosen run replaces the last if it is not among them. */
function drawnOf(runs, chosen) {
  const first = runs.slice(0, MOST);
  const own = runs.find(({ run }) => run === chosen);
  return !own || first.includes(own) ? first : [...first.slice(0, -1), own];
}

function radar(id, measure, groups, lines, chosen) {
  const most = Math.max(0, ...lines.flatMap(({ means }) => means.slice(1).map((mean) => valueOf(mean) ?? 0)));
  const end = most > 1 ? most * 1.05 : Math.max(0.2, Math.ceil(most * 5 - 1e-9) / 5);
  const at = (i, share) => {
    const turn = (2 * Math.PI * i) / groups.length;
    return [X + Math.sin(turn) * share * RADIUS, Y - Math.cos(turn) * share * RADIUS];
  };
  const text = (points) => points.map((point) => point.map((one) => one.toFixed(1)).join(",")).join(" ");
  const rings = [0.25, 0.5, 0.75, 1];
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${measure} of ${count(lines.length, "run")} by group; the table has the numbers` },
    rings.map((ring) => svg("polygon", { class: "ring", points: text(groups.map((_, i) => at(i, ring))) })),
    groups.map((_, i) => svg("line", { class: "axis", x1: X, y1: Y, x2: at(i, 1)[0], y2: at(i, 1)[1] })),
    rings.map((ring) => svg("text", { class: "ticks", x: X + 4, y: Y - ring * RADIUS + 12 }, num(ring * end, 2))),
    lines.map(({ run, means }, i) => web(run, means.slice(1).map(valueOf), i, chosen, end, at, text)),
    groups.map(([name, n], i) => {
      const [x, y] = at(i, 1.09);
      const anchor = Math.abs(x - X) < 8 ? "middle" : x > X ? "start" : "end";
      return svg("text", { x, y: y + 4, "text-anchor": anchor }, `${short(name || "(none)", 20)} (${count(n)})`);
    }),
    lines.map(({ run }, i) => svg("a", { href: link(id, { run: run === chosen ? "" : run }), class: run === chosen ? "chosen" : null,
      "aria-label": run },
      svg("line", { x1: 560, x2: 584, y1: 40 + 24 * i, y2: 40 + 24 * i, stroke: COLORS[i], "stroke-width": run === chosen ? 4 : 2 }),
      svg("text", { x: 592, y: 44 + 24 * i }, short(run, 22)))));
}

/** The line of a run, with a gap for each missing mean. */
function web(run, values, i, chosen, end, at, text) {
  const points = values.map((value, j) => (value === null ? null : at(j, Math.max(0, value) / end)));
  const isFaint = chosen && run !== chosen;
  const parts = points.map((point, j) => [point, points[(j + 1) % points.length]]).filter(([a, b]) => a && b);
  return svg("g", { class: isFaint ? "web faint" : "web" }, svg("title", {}, run),
    parts.map((pair) => svg("polyline", { points: text(pair), stroke: COLORS[i], fill: "none" })),
    points.filter(Boolean).map(([x, y]) => svg("circle", { cx: x, cy: y, r: 3, fill: COLORS[i] })));
}
