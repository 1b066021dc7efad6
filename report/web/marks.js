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
