// Marks in rows, and small charts of lines and points, as SVG.

import { el, num, short, svg } from "./el.js";
import { saves } from "./save.js";

const ROW_HEIGHT = 20;
const PAD = 7;

/** A value on a line from `low` to `high` of `scale`.
 *
 * value: the dot. interval: [low, high] over topics, the whisker. bounds: [low, high] with every missing
 * judgement at its worst or best, the bracket. corrected: with people's labels, the diamond.
 * sequence: [low, high] of a confidence sequence, valid at any time while labels arrive, the band.
 */
export function range({ value, interval, bounds, corrected, sequence }, scale = [0, 1], width = 176) {
  const x = (v) => PAD + ((v - scale[0]) / (scale[1] - scale[0] || 1)) * (width - 2 * PAD);
  const middle = ROW_HEIGHT / 2;
  const parts = [svg("line", { class: "axis", x1: x(scale[0]), x2: x(scale[1]), y1: middle, y2: middle })];
  if (scale[0] < 0) parts.push(svg("line", { class: "axis", x1: x(0), x2: x(0), y1: 2, y2: ROW_HEIGHT - 2 })); // where 0 is
  const words = [`value ${num(value)}`];
  if (sequence) {
    const [low, high] = sequence.map((v) => x(Math.min(Math.max(v, scale[0]), scale[1])));
    parts.push(svg("rect", { class: "band", x: low, y: middle - 5, width: Math.max(high - low, 1), height: 10 }));
    words.push(`confidence sequence ${num(sequence[0])} to ${num(sequence[1])}`);
  }
  if (interval) {
    parts.push(svg("line", { class: "whisker", x1: x(interval[0]), x2: x(interval[1]), y1: middle, y2: middle }));
    words.push(`interval ${num(interval[0])} to ${num(interval[1])}`);
  }
  if (bounds) {
    const [a, b] = [x(bounds[0]), x(bounds[1])];
    const d = `M${a + 4} 3h-4v${ROW_HEIGHT - 6}h4M${b - 4} 3h4v${ROW_HEIGHT - 6}h-4`;
    parts.push(svg("path", { class: "bracket", d }));
    words.push(`bounds ${num(bounds[0])} to ${num(bounds[1])}`);
  }
  if (value !== null && value !== undefined) parts.push(svg("circle", { class: "dot", cx: x(value), cy: middle, r: 4 }));
  if (corrected !== null && corrected !== undefined) {
    parts.push(svg("path", { class: "diamond", d: `M${x(corrected)} ${middle - 6}l5 6-5 6-5-6z` }));
    words.push(`corrected with labels ${num(corrected)}`);
  }
  return svg("svg", { class: "range", role: "img", "aria-label": words.join(", "), width, height: ROW_HEIGHT }, parts);
}

const AXIS = 17; // height of the axis of strips

/** `range` on a scale as wide as its cell, with a line at each tick; see `axis`. */
export function strip({ value, interval, bounds, corrected }, scale, height) {
  const x = (v) => `${(100 * (v - scale[0])) / (scale[1] - scale[0] || 1)}%`;
  const middle = height / 2;
  const words = [`value ${num(value)}`];
  const parts = stepsOf(scale).map((at) => svg("line", { class: "axis", x1: x(at), x2: x(at), y1: 0, y2: height }));
  if (bounds) {
    const [a, b] = bounds.map(x);
    parts.push(svg("line", { class: "bracket", x1: a, x2: b, y1: middle + 5, y2: middle + 5 }),
      [a, b].map((end) => svg("line", { class: "bracket", x1: end, x2: end, y1: middle + 1, y2: middle + 5 })));
    words.push(`bounds ${num(bounds[0])} to ${num(bounds[1])}`);
  }
  if (interval) {
    parts.push(svg("line", { class: "whisker", x1: x(interval[0]), x2: x(interval[1]), y1: middle, y2: middle }));
    words.push(`interval ${num(interval[0])} to ${num(interval[1])}`);
  }
  if (value !== null && value !== undefined) parts.push(svg("circle", { class: "dot", cx: x(value), cy: middle, r: 3.5 }));
  if (corrected !== null && corrected !== undefined) {
    parts.push(svg("svg", { x: x(corrected), overflow: "visible" },
      svg("path", { class: "diamond", d: `M0 ${middle - 5}l5 5-5 5-5-5z` })));
    words.push(`corrected with labels ${num(corrected)}`);
  }
  return svg("svg", { class: "interval", role: "img", "aria-label": words.join(", "), width: "100%", height, overflow: "visible" }, parts);
}

/** The numbers at the ticks of a scale. */
export function axis(scale) {
  const x = (v) => `${(100 * (v - scale[0])) / (scale[1] - scale[0] || 1)}%`;
  const digits = scale[1] > 20 ? 0 : Math.max(...ticks(scale).map((at) => String(at).split(".")[1]?.length ?? 0));
  return svg("svg", { class: "interval", "aria-hidden": "true", width: "100%", height: AXIS, overflow: "visible" },
    stepsOf(scale).map((at) => svg("text", { x: x(at), y: 12, "text-anchor": "middle" }, num(at, at === Math.round(at) ? 0 : digits))));
}

function stepsOf([low, high]) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10);
  const from = Math.ceil(low / step - 1e-9);
  const n = Math.floor(high / step + 1e-9) - from + 1;
  return Array.from({ length: n }, (_, i) => Number(((from + i) * step).toPrecision(6)));
}

const [WIDTH, HEIGHT, LEFT, BELOW, ABOVE, RIGHT] = [480, 256, 44, 36, 28, 128];

function frame({ x, y, xLabel, yLabel, label }) {
  const across = (v) => LEFT + ((v - x[0]) / (x[1] - x[0] || 1)) * (WIDTH - LEFT - RIGHT);
  const up = (v) => HEIGHT - BELOW - ((v - y[0]) / (y[1] - y[0] || 1)) * (HEIGHT - BELOW - ABOVE);
  const tick = (v) => String(Math.round(v * 100) / 100).replace(/^0\./, ".");
  const parts = [
    svg("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: up(y[0]), y2: up(y[0]) }),
    svg("line", { class: "axis", x1: LEFT, x2: LEFT, y1: ABOVE, y2: HEIGHT - BELOW }),
    ...ticks(x).map((v) => svg("text", { x: across(v), y: HEIGHT - BELOW + 16, "text-anchor": "middle" }, tick(v))),
    ...ticks(y).map((v) => svg("text", { x: LEFT - 8, y: up(v) + 4, "text-anchor": "end" }, tick(v))),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xLabel),
    svg("text", { x: 0, y: 10 }, yLabel),
  ];
  return { across, up, drawn: (...marks) => svg("svg",
    { role: "img", "aria-label": label, width: WIDTH, height: HEIGHT + 4, viewBox: `0 -4 ${WIDTH} ${HEIGHT + 4}` },
    parts, marks) };
}

function ticks([low, high]) {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((n) => n * power >= rough) * power;
  const values = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) values.push(v);
  return values;
}

/** Lines over 1, 2, 3 ...: `lines` are { name, values, isOwn }.
 *
 * id: names its files. y: [low, high]; xLabel, yLabel: of the axes; label: for screen readers. Each line is named
 * at its end while there is room: first the chosen line, then the lines that end highest.
 */
export function curves({ id, lines, y, xLabel, yLabel, label }) {
  const last = Math.max(2, ...lines.map(({ values }) => values.length));
  const { across, up, drawn } = frame({ x: [1, last], y, xLabel, yLabel, label });
  const known = lines.map((line) => ({ ...line, points: line.values.map((v, i) => [i + 1, v]).filter(([, v]) => v !== null) }))
    .filter(({ points }) => points.length);
  const ends = known.map(({ name, isOwn, points }) => ({ name, isOwn, x: across(points.at(-1)[0]) + 6, y: up(points.at(-1)[1]) + 4 }));
  return savable({ id, label, rows: [["name", xLabel, yLabel], ...known.flatMap(({ name, points }) => points.map((point) => [name, ...point]))] },
    drawn(
      ownLast(known).map(({ name, points, isOwn }) => svg("polyline", {
        class: isOwn ? "line own" : "line",
        points: points.map(([at, v]) => `${across(at).toFixed(1)},${up(v).toFixed(1)}`).join(" "),
      }, svg("title", {}, name))),
      names(ends.sort((a, b) => a.y - b.y))));
}

/** Points: `points` are { name, x, y, isOwn }; both axes from 0 to 1. Points are named where names have room. */
export function scatter({ id, points, xLabel, yLabel, label }) {
  const { across, up, drawn } = frame({ x: [0, 1], y: [0, 1], xLabel, yLabel, label });
  const beside = points.map(({ name, x, y, isOwn }) => ({ name, isOwn, x: across(x) + 8, y: up(y) + 4 }));
  return savable({ id, label, rows: [["name", xLabel, yLabel], ...points.map(({ name, x, y }) => [name, x, y])] },
    drawn(
      ownLast(points).map(({ name, x, y, isOwn }) =>
        svg("circle", { class: isOwn ? "point own" : "point", cx: across(x), cy: up(y), r: 5 },
          svg("title", {}, `${name}: ${num(x)}, ${num(y)}`))),
      names(beside)));
}

function ownLast(some) {
  return some.toSorted((a, b) => (a.isOwn ?? 0) - (b.isOwn ?? 0));
}

/** Names at their places; a name that would overlap another or cross the edge appears only in the table. */
function names(places) {
  const put = [];
  for (const one of ownLast(places).reverse().sort((a, b) => (b.isOwn ?? 0) - (a.isOwn ?? 0))) {
    const text = short(one.name, 18);
    const width = 6.6 * text.length;
    const x = one.x + width > WIDTH ? one.x - width - 16 : one.x;
    const isFree = put.every((other) => Math.abs(other.y - one.y) >= 12 || x + width < other.x || other.x + other.width < x);
    if (isFree) put.push({ text, x, y: one.y, width, isOwn: one.isOwn });
  }
  return put.map(({ text, x, y, isOwn }) => svg("text", { class: isOwn ? "name own" : "name", x: x.toFixed(1), y: y.toFixed(1) }, text));
}

function savable({ id, label, rows: [head, ...rows] }, drawing) {
  return el("div", {}, drawing, el("p", { class: "under" }, saves({
    id, title: label.replace(/; the table has.*/, ""), drawn: () => drawing,
    rows: (isPrinted) => [head, ...rows.map((row) => row.map((one) => (isPrinted && typeof one === "number" ? num(one, one % 1 ? 3 : 0) : one)))],
  })));
}
