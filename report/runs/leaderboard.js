// Who is best, and is that known.

import { count, el, nameParts, num } from "../web/el.js";
import { range } from "../web/marks.js";
import { link } from "../web/state.js";
import { table } from "../web/table.js";
import { choice, has, measureOf, nameOf, unknown } from "./chosen.js";

export const keys = ["measure", "run"];

/** See page.js. */
export function draw({ id, data, head }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const board = data.measures[measure];
  const { rows } = board;
  const chosen = nameOf(
    "run",
    rows.map((row) => row.run_id),
  );
  const beside = chosen || rows[0]?.run_id;
  const same = alike(board, beside);
  const has_ = (name) => rows.some((row) => row[name] && row[name] !== 0);
  const digits = board.scale[1] > 20 ? 0 : 3;
  const other = new Map(board.beside.map((name) => [name, byRun(data.measures[name], "mean")]));
  const words = measure !== "length" && data.measures.length ? byRun(data.measures.length, "mean") : null;
  const columns = [
    {
      key: "run",
      label: "run",
      isText: true,
      value: (row) => row.run_id,
      className: (row) => (same.has(row.run_id) ? "same" : ""),
      cell: (row) =>
        el(
          "a",
          {
            class: "run",
            title: row.run_id,
            href: link(id, { run: row.run_id === chosen ? "" : row.run_id }),
            "aria-current": row.run_id === chosen ? "true" : null,
          },
          nameParts(row.run_id),
          same.has(row.run_id) ? el("span", { class: "unseen" }, ` not told apart from ${beside}`) : null,
        ),
    },
    {
      key: "mean",
      label: measure,
      title: board.meaning,
      value: (row) => row.mean,
      cell: (row) => el("b", {}, num(row.mean, digits)),
    },
    {
      key: "range",
      label: `${num(board.scale[0], 0)} to ${num(board.scale[1], board.scale[1] % 1 ? 1 : 0)}`,
      isText: true,
      cell: (row) => range(drawn(row), board.scale),
    },
    {
      key: "low",
      label: "95% interval",
      title: "over topics",
      value: (row) => row.low,
      cell: (row) => between(row.low, row.high, digits),
    },
  ];
  if (has_("corrected"))
    columns.push(
      {
        key: "corrected",
        label: "corrected",
        title: `with people's labels, ${data.labels}`,
        value: (row) => row.corrected?.value,
        cell: (row) => num(row.corrected?.value, digits),
      },
      {
        key: "corrected_low",
        label: "its 95% interval",
        title: "over topics like these",
        value: (row) => row.corrected?.low,
        cell: (row) => between(row.corrected?.low ?? null, row.corrected?.high, digits),
      },
    );
  for (const [name, of] of other)
    columns.push({
      key: name,
      label: name,
      title: data.measures[name].meaning,
      value: (row) => of.get(row.run_id),
      cell: (row) => num(of.get(row.run_id)),
    });
  if (words)
    columns.push({
      key: "words",
      label: "words",
      title: data.measures.length.meaning,
      value: (row) => words.get(row.run_id),
      cell: (row) => num(words.get(row.run_id), 0),
    });
  if (has_("n_unanswered"))
    columns.push({
      key: "answered",
      label: "answered",
      value: (row) => board.n_topics - row.n_unanswered,
      cell: (row) =>
        row.n_unanswered ? `${board.n_topics - row.n_unanswered} of ${board.n_topics}` : String(board.n_topics),
    });
  columns.push({
    key: "n",
    label: "n",
    title: "judgements that the mean rests on",
    value: (row) => row.n,
    cell: (row) => count(row.n),
  });
  if (has_("n_unjudged"))
    columns.push(
      {
        key: "bounds",
        label: "bounds",
        title: "if all that is unjudged were the worst, the best",
        value: (row) => (row.bounds ? row.bounds[1] - row.bounds[0] : null),
        cell: (row) => (row.bounds ? between(...row.bounds, digits) : row.n_unjudged ? "none" : "–"),
      },
      { key: "unjudged", label: "unjudged", value: (row) => row.n_unjudged, cell: (row) => count(row.n_unjudged) },
    );
  return [
    el("div", { class: "controls" }, choice(id, "measure", "Measure", available, measure)),
    ...unknown(head, available, () => ""),
    el("p", { class: "lead" }, sentence(board, measure, beside, data, has_)),
    chosen ? el("p", { class: "lead" }, `${chosen}: `, linksTo(head, chosen, measure)) : null,
    table({ id, of: id, caption: `Runs by ${measure}`, columns, rows, order: board.is_less_better ? "mean" : "-mean" }),
    board.oracles.length ? oracles(board, measure, digits) : null,
  ].filter(Boolean);
}

function drawn(row) {
  return {
    value: row.mean,
    interval: row.low === null ? null : [row.low, row.high],
    bounds: row.bounds,
    corrected: row.corrected?.value,
  };
}

function between(low, high, digits) {
  return low === null ? "–" : `${num(low, digits)} to ${num(high, digits)}`;
}

function byRun(board, name) {
  return new Map(board.rows.map((row) => [row.run_id, row[name]]));
}

/** The runs without a significant difference from one of them, itself included; none where nothing could be tested. */
function alike({ rows, apart, least_topics }, run) {
  const equals = new Set();
  let pair = 0;
  if (apart && !least_topics)
    rows.forEach((one, i) =>
      rows.slice(i + 1).forEach((other) => {
        const isSame = apart[pair++] === "0";
        if (isSame && (one.run_id === run || other.run_id === run)) equals.add(one.run_id).add(other.run_id);
      }),
    );
  return equals;
}

function sentence(board, measure, beside, data, has_) {
  const parts = [`${board.meaning} Mean over ${count(board.n_topics, "topic")}`];
  parts.push(board.is_of_answered ? " that a run answered" : ", 0 where a run did not answer");
  parts.push(board.is_less_better ? "; less is better." : ".");
  parts.push(" Dot: the mean. Whisker: its 95% interval over topics.");
  if (has_("bounds")) parts.push(" Bracket: what the unjudged could make of it, no interval.");
  if (has_("corrected")) parts.push(` Diamond: corrected with people's labels of ${data.labels}.`);
  if (!board.apart)
    parts.push(
      board.rows.length > 1 ? ` Pairs are not tested by it here: judge compare RESULTS --measure ${measure} does.` : "",
    );
  else if (!board.apart.replaceAll("?", "")) parts.push(" No two runs share a topic, so they are not tested.");
  else if (board.least_topics)
    parts.push(
      ` Too few shared topics to find differences between ${board.rows.length} runs: ` +
        `at least ${board.least_topics} are needed.`,
    );
  else if (board.rows.length === 2)
    parts.push(" A blue edge: no significant difference between the two (randomisation test).");
  else
    parts.push(
      ` A blue edge: no significant difference from ${beside} (${board.test}, p ≥ .05); ` +
        "choose another run to see those of it.",
    );
  return parts.join("");
}

function linksTo(head, run, measure) {
  const known = [
    ["answer", "its answers"],
    ["matrix", "its facts"],
    ["topics", "its topics"],
    ["pairs", "against others"],
  ];
  const present = known.filter(([section]) => has(head, section));
  return present.flatMap(([section, words], i) => [
    i ? " · " : "",
    el("a", { href: link(section, { run, measure }) }, words),
  ]);
}

function oracles(board, measure, digits) {
  const named = board.oracles.map((row) => `${row.run_id} (${row.what}) ${num(row.mean, digits)}`);
  return el("p", { class: "lead" }, `No runs, but what they are measured against, by ${measure}: ${named.join("; ")}.`);
}
