// Marks for kinds of uncertainty, in one row: whisker, bracket, diamond, band.

import { num, svg } from "./el.js";

const HEIGHT = 20;
const PAD = 7;

/** A value on a line from `low` to `high` of `scale`.
 *
 * value: the dot. interval: [low, high] over topics, the whisker. bounds: [low, high], what the
 * judgements that are missing could make of it, the bracket. corrected: with labels, the diamond.
 * sequence: [low, high] that hold at every look while labels come, the band.
 */
export function range({ value, interval, bounds, corrected, sequence }, scale = [0, 1], width = 176) {
  const x = (v) => PAD + ((v - scale[0]) / (scale[1] - scale[0] || 1)) * (width - 2 * PAD);
  const middle = HEIGHT / 2;
  const parts = [svg("line", { class: "axis", x1: x(scale[0]), x2: x(scale[1]), y1: middle, y2: middle })];
  if (scale[0] < 0) parts.push(svg("line", { class: "axis", x1: x(0), x2: x(0), y1: 2, y2: HEIGHT - 2 })); // where 0 is
  const words = [`value ${num(value)}`];
  if (sequence) {
    const [low, high] = sequence.map((v) => x(Math.min(Math.max(v, scale[0]), scale[1])));
    parts.push(svg("rect", { class: "band", x: low, y: middle - 5, width: Math.max(high - low, 1), height: 10 }));
    words.push(`at every look ${num(sequence[0])} to ${num(sequence[1])}`);
  }
  if (interval) {
    parts.push(svg("line", { class: "whisker", x1: x(interval[0]), x2: x(interval[1]), y1: middle, y2: middle }));
    words.push(`interval ${num(interval[0])} to ${num(interval[1])}`);
  }
  if (bounds) {
    const [a, b] = [x(bounds[0]), x(bounds[1])];
    const d = `M${a + 4} 3h-4v${HEIGHT - 6}h4M${b - 4} 3h4v${HEIGHT - 6}h-4`;
    parts.push(svg("path", { class: "bracket", d }));
    words.push(`unjudged could make it ${num(bounds[0])} to ${num(bounds[1])}`);
  }
  if (value !== null && value !== undefined) parts.push(svg("circle", { class: "dot", cx: x(value), cy: middle, r: 4 }));
  if (corrected !== null && corrected !== undefined) {
    parts.push(svg("path", { class: "diamond", d: `M${x(corrected)} ${middle - 6}l5 6-5 6-5-6z` }));
    words.push(`corrected with labels ${num(corrected)}`);
  }
  return svg("svg", { class: "range", role: "img", "aria-label": words.join(", "), width, height: HEIGHT }, parts);
}

const AXIS = 17; // height of the axis of strips

/** The same on a scale as wide as its cell, with a line at each tick; see `axis`. */
export function strip({ value, interval, bounds, corrected }, scale, height) {
  const x = (v) => `${(100 * (v - scale[0])) / (scale[1] - scale[0] || 1)}%`;
  const middle = height / 2;
  const words = [`value ${num(value)}`];
  const parts = ticks(scale).map((at) => svg("line", { class: "axis", x1: x(at), x2: x(at), y1: 0, y2: height }));
  if (bounds) {
    const [a, b] = bounds.map(x);
    parts.push(svg("line", { class: "bracket", x1: a, x2: b, y1: middle + 5, y2: middle + 5 }),
      [a, b].map((end) => svg("line", { class: "bracket", x1: end, x2: end, y1: middle + 1, y2: middle + 5 })));
    words.push(`unjudged could make it ${num(bounds[0])} to ${num(bounds[1])}`);
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
    ticks(scale).map((at) => svg("text", { x: x(at), y: 12, "text-anchor": "middle" }, num(at, at === Math.round(at) ? 0 : digits))));
}

function ticks([low, high]) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10);
  const from = Math.ceil(low / step - 1e-9);
  const n = Math.floor(high / step + 1e-9) - from + 1;
  return Array.from({ length: n }, (_, i) => Number(((from + i) * step).toPrecision(6)));
}
