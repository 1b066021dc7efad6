// Is a run only longer: score against words.

import { count, el, num, svg } from "../el.js";
import { choice, measureOf, nameOf, unknown } from "../runs.js";
import { saves } from "../save.js";
import { link } from "../state.js";

export const keys = ["measure", "run"];

const [WIDE, NARROW, HEIGHT] = [760, 380, 420];
const PAD = { left: 48, right: 24, top: 16, bottom: 40 };

/** See page.js. */
export function draw({ id, data, head }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const { points, front, spearman } = data.measures[measure];
  const chosen = nameOf(
    "run",
    points.map((point) => point.run),
  );
  const rank = spearman === null ? "undefined" : num(spearman);
  const drawing = plot(id, measure, points, front, chosen);
  return [
    el("div", { class: "controls" }, choice(id, "measure", "Measure", available, measure)),
    ...unknown(head, available, (name) => `${name} is not compared with length; this shows ${measure}.`),
    el(
      "p",
      { class: "lead" },
      "Each point is a run: the mean number of words of its answers, over the topics that it answered, and its mean score. " +
        "No run is both shorter and better than a run on the line. " +
        `Rank correlation of score and length: ${rank} (Spearman, ${count(points.length, "run")}).`,
    ),
    el("div", { class: "plot" }, drawing),
    el(
      "p",
      { class: "under" },
      saves({
        id: `${id}.plot`,
        measure,
        title: `${measure} against words`,
        drawn: () => drawing,
        rows: (isPrinted) => [
          ["run", "words", measure],
          ...points.map(({ run, words, score }) => [run, ...(isPrinted ? [num(words, 0), num(score)] : [words, score])]),
        ],
      }),
    ),
  ];
}

/** Round steps that cover 0 to `most`, five or so. */
function steps(most) {
  const rough = most / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  return Array.from({ length: Math.max(1, Math.ceil(most / step - 1e-9)) + 1 }, (_, i) => i * step);
}

function plot(id, measure, points, front, chosen) {
  const width = innerWidth < WIDE ? NARROW : WIDE; // so that a phone shows all of it
  const [across, up] = ["words", "score"].map((name) => steps(Math.max(0, ...points.map((point) => point[name]))));
  const x = (words) => PAD.left + (words / across.at(-1)) * (width - PAD.left - PAD.right);
  const y = (score) => HEIGHT - PAD.bottom - (score / up.at(-1)) * (HEIGHT - PAD.top - PAD.bottom);
  const line = front.map((i) => points[i]);
  const corners = line.flatMap((point, i) =>
    i
      ? [
          [x(point.words), y(line[i - 1].score)],
          [x(point.words), y(point.score)],
        ]
      : [[x(point.words), y(point.score)]],
  );
  const digits = up[1] < 0.1 ? 2 : up[1] < 1 ? 1 : 0;
  const isNamed = named(points, front, chosen, x, y, width);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "group",
      "aria-label": `${measure} against words, ${count(points.length, "run")}`,
    },
    up.map((value) => [
      svg("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value) }),
      svg("text", { x: PAD.left - 8, y: y(value) + 4, "text-anchor": "end" }, value ? num(value, digits) : "0"),
    ]),
    across.map((value) =>
      svg("text", { x: x(value), y: HEIGHT - PAD.bottom + 18, "text-anchor": "middle" }, count(value)),
    ),
    svg("text", { x: width - PAD.right, y: HEIGHT - 4, "text-anchor": "end" }, "words"),
    svg("text", { x: PAD.left, y: PAD.top - 4 }, measure),
    svg("polyline", {
      class: "front",
      points: corners.map((pair) => pair.map((n) => n.toFixed(1)).join(",")).join(" "),
    }),
    points.map((point, i) => {
      const words = `${point.run}: ${measure} ${num(point.score)}, ${num(point.words, 0)} words`;
      const state = point.run === chosen ? "chosen" : front.includes(i) ? "best" : null;
      const isLeft = fitsLeft(x(point.words), point.run);
      return svg(
        "a",
        { href: link(id, { run: point.run === chosen ? "" : point.run }), class: state, "aria-label": words },
        svg("title", {}, words),
        svg("circle", { class: "hit", cx: x(point.words), cy: y(point.score), r: 12 }),
        svg("circle", { class: "point", cx: x(point.words), cy: y(point.score), r: point.run === chosen ? 6 : 4 }),
        isNamed.has(i)
          ? svg(
              "text",
              {
                x: x(point.words) + (isLeft ? -10 : 10),
                y: y(point.score) - 6,
                "text-anchor": isLeft ? "end" : "start",
              },
              short(point.run),
            )
          : null,
      );
    }),
  );
}

/** The chosen run, those on the line, then the others, best first: whose names do not run into one another or a point. */
function named(points, front, chosen, x, y, right) {
  const best = points.map((_, i) => i).sort((a, b) => points[b].score - points[a].score);
  const wanted = [points.findIndex((point) => point.run === chosen), ...[...front].reverse(), ...best].filter((i) => i >= 0);
  const taken = [];
  for (const i of new Set(wanted)) {
    const [at, height] = [x(points[i].words), y(points[i].score)];
    const width = wide(points[i].run);
    const box = fitsLeft(at, points[i].run) ? [at - 10 - width, at - 10] : [at + 10, at + 10 + width];
    const isFree = taken.every(
      ([from, to, other]) => Math.abs(other - height) > 15 || box[1] < from || box[0] > to,
    );
    const isClear = box[1] <= right && points.every(({ words, score }, j) =>
      j === i || Math.abs(y(score) - height + 11) > 11 || x(words) < box[0] || x(words) > box[1]);
    if (isFree && (isClear || points[i].run === chosen)) taken.push([...box, height, i]);
  }
  return new Set(taken.map((one) => one[3]));
}

/** Left of and above a point of the line there is no other point. */
function fitsLeft(at, run) {
  return at - 10 - wide(run) > PAD.left;
}

function wide(run) {
  return 7.5 * short(run).length;
}

function short(name) {
  return name.length > 36 ? `${name.slice(0, 34)}…` : name;
}
