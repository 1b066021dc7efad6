// Where do runs fail, and which topics are hard.

import { count, el, num } from "../web/el.js";
import { saves } from "../web/save.js";
import { get, go, link } from "../web/state.js";
import { again, ordered, table } from "../web/table.js";
import { cellsOf, counted, reasonText, spread, UNANSWERED, UNDEFINED, UNJUDGED } from "./cells.js";
import { choice, has, measureOf, unknown } from "./chosen.js";
import { heatmap, sample } from "./heatmap.js";

export const keys = ["measure", "run", "topic"];

const ORDERS = { mean: "by mean", spread: "by spread", given: "as given" };

/** See page.js. */
export function draw(view) {
  const { id, data, head } = view;
  const measure = measureOf(head, head.measures);
  const cells = cellsOf(head, measure);
  const { runs, topics } = view.once("means", measure, () => described(head, data, cells, measure));
  const by = Object.hasOwn(ORDERS, get(`${id}.by`)) ? get(`${id}.by`) : "mean";
  const sorted = {
    runs: inOrder(runs, by),
    topics: inOrder(topics, by),
  };
  const digits = (cells.values.at(-1) ?? 1) > 20 ? 0 : 3;
  const least = data.less_is_better.includes(measure) ? " (less is better)" : "";
  const map = view
    .once("map", `${by} ${measure}`, () =>
      heatmap({
        id,
        head,
        cells,
        measure,
        digits,
        runs: sorted.runs,
        topics: sorted.topics,
        open: (run, topic) => open(id, head, measure, run, topic),
      }),
    )
    .chosen(get("run"), get("topic"));
  return [
    el(
      "div",
      { class: "controls" },
      choice(id, "measure", "Measure", head.measures, measure),
      el(
        "label",
        {},
        "Order",
        el(
          "select",
          { name: "order", onchange: (event) => go(id, { [`${id}.by`]: event.target.value }) },
          Object.entries(ORDERS).map(([key, words]) => el("option", { value: key, selected: key === by }, words)),
        ),
      ),
    ),
    ...unknown(head, head.measures, () => ""),
    el(
      "p",
      { class: "lead" },
      `A row is a run, a column a topic; the fuller the tone, the higher ${measure}${least}. ` +
        `Topics stand ${ORDERS[by]}; means are right and below. ` +
        "Choose a cell, or go there with the arrow keys and Enter, for the facts behind it.",
    ),
    view.once("legend", measure, () => legend(cells, digits)),
    map,
    el("p", { class: "lead" }, summary(runs, topics, measure, digits)),
    el(
      "p",
      { class: "under" },
      saves({
        id: `${id}.map`,
        measure,
        title: `${measure} by run and topic`,
        drawn: () => map.querySelector("canvas"),
        rows: (isPrinted) => [
          ["run", ...sorted.topics.map((one) => one.name)],
          ...sorted.runs.map(({ run, name }) => [
            name,
            ...sorted.topics.map(({ topic }) => {
              const value = cells.value(run, topic);
              return value === null ? reasonText(cells.why(run, topic)) : isPrinted ? num(value, digits) : value;
            }),
          ]),
        ],
      }),
    ),
    el("h3", {}, "By topic"),
    again(view.once("list", measure, () => list(id, head, measure, topics, digits, data.questions))),
  ];
}

/** Runs and topics with their means and spreads. */
function described(head, data, cells, measure) {
  const of = (run, topic) => counted(cells, run, topic);
  const runs = cells.runs.map((run) => ({
    run,
    name: head.runs[run],
    ...spread(cells.topics.map((topic) => of(run, topic))),
  }));
  return { runs, topics: cells.topics.map((topic) => describe(head, data, cells, measure, topic, of)) };
}

function describe(head, data, cells, measure, topic, of) {
  const values = cells.runs.map((run) => of(run, topic));
  const best = cells.runs.reduce(
    (first, run, i) => (values[i] !== null && (first === null || values[i] > values[first]) ? i : first),
    null,
  );
  const name = head.topics[topic];
  const unanswered = cells.runs.filter((run) => cells.why(run, topic) === UNANSWERED).length;
  return {
    topic,
    name,
    ...spread(values),
    highest: best === null ? null : head.runs[cells.runs[best]],
    unanswered,
    unjudged: data.unjudged[measure]?.[name] ?? 0,
    question: data.questions[name] ?? "",
  };
}

function inOrder(rows, by) {
  if (by === "given") return rows;
  const value = {
    mean: (row) => row.mean,
    spread: (row) => row.sd,
  }[by];
  return ordered(rows, value, true);
}

function open(id, head, measure, run, topic) {
  const to = has(head, "matrix") ? "matrix" : has(head, "answer") ? "answer" : id;
  go(to, { run: head.runs[run], topic: head.topics[topic], measure });
}

function legend(cells, digits) {
  const [low, high] = [Math.min(0, ...cells.values.slice(0, 1)), Math.max(cells.values.at(-1) ?? 1, digits ? 1 : 0)];
  const entries = [
    [low, num(low, 0)],
    [(low + high) / 2, ""],
    [high, num(high, high % 1 ? 1 : 0)],
  ];
  const whys = [UNANSWERED, UNJUDGED, UNDEFINED].filter((why) =>
    cells.runs.some((run) => cells.topics.some((topic) => cells.why(run, topic) === why)),
  );
  return el(
    "p",
    { class: "legend" },
    entries.map(([, words], i) => [sample({ share: i / 2 }), words ? ` ${words} ` : " "]),
    whys.map((why) => [sample({ why }), ` ${reasonText(why)} `]),
  );
}

function summary(runs, topics, measure, digits) {
  const ranked = inOrder(
    topics.filter((one) => one.mean !== null),
    "mean",
  );
  const widest = inOrder(
    topics.filter((one) => one.sd !== null),
    "spread",
  )[0];
  if (!ranked.length) return `No topic has a value of ${measure}.`;
  const [top, last] = [ranked[0], ranked.at(-1)];
  return (
    `Over ${count(runs.length, "run")} the highest mean is that of ${top.name} (${num(top.mean, digits)}), ` +
    `the lowest that of ${last.name} ` +
    `(${num(last.mean, digits)}); runs differ most on ${widest.name} (standard deviation ${num(widest.sd, digits)}).`
  );
}

function list(id, head, measure, topics, digits, questions) {
  const to = has(head, "matrix") ? "matrix" : id;
  const columns = [
    {
      key: "topic",
      label: "topic",
      isText: true,
      value: (row) => row.name,
      cell: (row) => el("a", { href: link(to, { topic: row.name }) }, row.name),
    },
    { key: "mean", label: "mean of runs", value: (row) => row.mean, cell: (row) => num(row.mean, digits) },
    {
      key: "sd",
      label: "spread",
      title: "standard deviation over runs",
      value: (row) => row.sd,
      cell: (row) => num(row.sd, digits),
    },
  ];
  columns.push({ key: "highest", label: "highest", isText: true, value: (row) => row.highest });
  if (topics.some((row) => row.unanswered))
    columns.push({
      key: "unanswered",
      label: "runs without answer",
      value: (row) => row.unanswered,
      cell: (row) => count(row.unanswered),
    });
  if (topics.some((row) => row.unjudged))
    columns.push({
      key: "unjudged",
      label: "unjudged",
      value: (row) => row.unjudged,
      cell: (row) => count(row.unjudged),
    });
  if (Object.keys(questions).length)
    columns.splice(1, 0, {
      key: "question",
      label: "question",
      isText: true,
      value: (row) => row.question,
      cell: (row) => el("span", { class: "long", title: row.question }, row.question),
    });
  const caption = "Topics over all runs";
  return table({ id, of: id, measure, caption, columns, rows: topics, order: "-mean", current: "topic" });
}
