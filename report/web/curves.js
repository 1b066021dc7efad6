// Small charts of lines and points, as SVG with an axis on two sides and nothing else.

import { svg } from "./el.js";

const [WIDTH, HEIGHT, LEFT, BELOW, ABOVE, RIGHT] = [440, 256, 44, 36, 28, 16];

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

/** Lines over 0, 1, 2 ...: `lines` are { name, values, isOwn, first }; `first` is the index of the first value.
 *
 * y: [low, high]; xLabel, yLabel: of the axes; label: for who does not see it.
 */
export function curves({ lines, y, xLabel, yLabel, label, first = 1 }) {
  const last = Math.max(first + 1, ...lines.map(({ values }) => values.length - 1 + first));
  const { across, up, drawn } = frame({ x: [first, last], y, xLabel, yLabel, label });
  return drawn(lines.toSorted((a, b) => (a.isOwn ?? 0) - (b.isOwn ?? 0)).map(({ name, values, isOwn }) => {
    const points = values.map((v, i) => [v, i]).filter(([v]) => v !== null).map(([v,
      i]) => `${across(i + first).toFixed(1)},${up(v).toFixed(1)}`);
    return svg("polyline", { class: isOwn ? "line own" : "line", points: points.join(" ") }, svg("title", {}, name));
  }));
}

/** Points: `points` are { name, x, y, isOwn }; both axes from 0 to 1. */
export function scatter({ points, xLabel, yLabel, label }) {
  const { across, up, drawn } = frame({ x: [0, 1], y: [0, 1], xLabel, yLabel, label });
  return drawn(points.toSorted((a, b) => (a.isOwn ?? 0) - (b.isOwn ?? 0)).map(({ name, x, y, isOwn }) =>
    svg("circle", { class: isOwn ? "point own" : "point", cx: across(x), cy: up(y), r: 5 },
      svg("title", {}, `${name}: ${x.toFixed(3)}, ${y.toFixed(3)}`))));
}
