// All runs by a measure, best first: as a chart of means with their intervals, or as a table of all figures.

import { axis, strip } from "../charts.js";
import { count, el, num } from "../el.js";
import { choice, has, measureOf, nameOf, unknown } from "../runs.js";
import { get, go, link } from "../state.js";
import { table } from "../table.js";

export const keys = ["measure", "run"];

const FEW = 20; // runs, up to which rows are higher
const TAIL = 12; // characters of the end of a name, which are shown however narrow it is

/** See page.js. */
export function draw({ id, data, head }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const board = data.measures[measure];
  const ranked = board.rows.map((row, i) => ({ ...row, rank: i + 1 }));
  const picked = pickedRuns(id, head);
  const rows = picked.size ? ranked.filter((row) => picked.has(row.run_id)) : ranked;
  const chosen = nameOf("run", rows.map((row) => row.run_id));
  const isTable = get(`${id}.view`) === "table";
  const worse = chosen ? differing(board, chosen) : worseRuns(board);
  const compact = ranked.length > FEW ? "" : " few";
  const columns = [
    { key: "rank", label: "#", kind: "rank", cell: (row) => String(row.rank) },
    runColumn(id, chosen),
    ...(isTable ? allFigures : fewFigures)({ board, measure, data, rows: ranked }),
  ];
  return [
    ...unknown(head, available, () => ""),
    el("p", { class: "lead" }, sentence(board, measure, data, chosen, data.measure)),
    chosen ? el("p", { class: "lead" }, `${chosen}: `, linksTo(head, chosen, measure)) : null,
    el(
      "div",
      { class: isTable ? "board" : `board forest${compact}` },
      table({
        id,
        of: id,
        measure,
        caption: `Runs by ${measure}`,
        columns,
        rows,
        order: board.is_less_better ? "mean" : "-mean",
        find: "Filter by name",
        namesOnly: true,
        tools: [choice(id, "measure", "Measure", available, measure), views(id, isTable), picker(id, head, picked)],
        rowClass: (row) => (worse.has(row.run_id) ? "worse" : null),
        rule: chosen ? null : (shown) => rule(board, shown, columns.length),
      }),
    ),
    board.oracles.length ? oracles(board, measure) : null,
  ].filter(Boolean);
}

function runColumn(id, chosen) {
  return {
    key: "run",
    label: "run",
    isText: true,
    isHead: true,
    value: (row) => row.run_id,
    cell: (row) => {
      const name = [...row.run_id];
      const at = Math.max(0, name.length - TAIL);
      return el(
        "a",
        {
          class: "run",
          title: row.run_id,
          href: link(id, { run: row.run_id === chosen ? "" : row.run_id }),
          "aria-current": row.run_id === chosen ? "true" : null,
        },
        el("span", { class: "start" }, name.slice(0, at).join("")),
        el("span", { class: "end" }, name.slice(at).join("")),
      );
    },
  };
}

function fewFigures({ board, measure, data, rows }) {
  const digits = digitsOf(board);
  return [
    meanColumn(board, measure),
    ...others(board.beside, data, "extra"),
    ...words(data, measure, "extra"),
    ...answered(board, rows, "extra"),
    ...(rows.some((row) => row.n_unjudged) ? [unjudgedColumn("extra")] : []),
    { key: "range", label: el("span", {}, el("span", { class: "unseen" }, "mean and interval"), axis(board.scale)), kind: "whiskers", cell: (row) => strip(drawn(row), board.scale, rows.length > FEW ? 17 : 22) },
    ...intervals(rows, digits).map((column) => ({ ...column, isUndrawn: true })),
  ];
}

function allFigures({ board, measure, data, rows }) {
  const digits = digitsOf(board);
  const [interval, ...corrected] = pairsOf(rows, digits, data);
  return [
    meanColumn(board, measure),
    interval,
    ...corrected,
    ...others([...board.beside, ...board.more], data),
    ...words(data, measure),
    ...answered(board, rows),
    { key: "n", label: "n", title: "judgements behind the mean", value: (row) => row.n, cell: (row) => count(row.n) },
    ...(rows.some((row) => row.n_unjudged)
      ? [
          {
            key: "bounds",
            label: "bounds",
            title: "the mean if every missing judgement were the worst, and if it were the best",
            value: (row) => (row.bounds ? row.bounds[1] - row.bounds[0] : null),
            cell: (row) => (row.bounds ? between(...row.bounds, digits) : row.n_unjudged ? "none" : "–"),
          },
          unjudgedColumn(),
        ]
      : []),
  ];
}

function digitsOf(board) {
  return board.scale[1] > 20 ? 0 : 3;
}

function meanColumn(board, measure) {
  const digits = digitsOf(board);
  return {
    key: "mean",
    label: measure,
    title: board.meaning,
    value: (row) => row.mean,
    cell: (row) => el("b", {}, num(row.mean, digits)),
  };
}

function pairsOf(rows, digits, data) {
  const interval = {
    key: "low",
    label: "95% interval",
    title: "over topics",
    value: (row) => row.low,
    cell: (row) => between(row.low, row.high, digits),
  };
  if (!rows.some((row) => row.corrected)) return [interval];
  return [
    interval,
    {
      key: "corrected",
      label: "corrected",
      title: `with people's labels, ${data.labels}`,
      value: (row) => row.corrected?.value,
      cell: (row) => num(row.corrected?.value, digits),
    },
    {
      key: "corrected_low",
      label: "95% interval, corrected",
      title: "for topics like these",
      value: (row) => row.corrected?.low,
      cell: (row) => between(row.corrected?.low ?? null, row.corrected?.high, digits),
    },
  ];
}

/** What the marks of the chart say, for the files that are saved of it. */
function intervals(rows, digits) {
  const columns = [
    { key: "low", label: "low", value: (row) => row.low, cell: (row) => num(row.low, digits) },
    { key: "high", label: "high", value: (row) => row.high, cell: (row) => num(row.high, digits) },
  ];
  if (rows.some((row) => row.corrected))
    columns.push({ key: "corrected", label: "corrected", value: (row) => row.corrected?.value,
      cell: (row) => num(row.corrected?.value, digits) });
  return columns;
}

function others(names, data, kind = "") {
  return names.map((name) => {
    const of = byRun(data.measures[name], "mean");
    return {
      key: name,
      label: name,
      kind,
      title: data.measures[name].meaning,
      value: (row) => of.get(row.run_id),
      cell: (row) => num(of.get(row.run_id)),
    };
  });
}

function words(data, measure, kind = "") {
  if (measure === "length" || !data.measures.length) return [];
  const of = byRun(data.measures.length, "mean");
  return [
    {
      key: "words",
      label: "words",
      kind,
      title: data.measures.length.meaning,
      value: (row) => of.get(row.run_id),
      cell: (row) => num(of.get(row.run_id), 0),
    },
  ];
}

function answered(board, rows, kind = "") {
  if (!rows.some((row) => row.n_unanswered)) return [];
  const n = (row) => board.n_topics - row.n_unanswered;
  return [
    {
      key: "answered",
      label: "answered",
      kind,
      title: "topics: answered / total",
      value: n,
      className: (row) => (row.n_unanswered ? "warned" : ""),
      cell: (row) => `${n(row)}/${board.n_topics}`,
    },
  ];
}

function unjudgedColumn(kind = "") {
  return {
    key: "unjudged",
    label: "unjudged",
    kind,
    title: "missing judgements",
    value: (row) => row.n_unjudged,
    className: (row) => (row.n_unjudged ? "warned" : ""),
    cell: (row) => count(row.n_unjudged),
  };
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

/** The runs that are significantly worse than the first; none where nothing was tested. */
function worseRuns(board) {
  if (!board.leading.length) return new Set();
  return new Set([...differing(board, board.rows[0].run_id)].filter((run) => !board.leading.includes(run)));
}

/** The runs that differ significantly from one of them. */
function differing({ rows, apart }, run) {
  const others = new Set();
  let pair = 0;
  if (apart)
    rows.forEach((one, i) =>
      rows.slice(i + 1).forEach((other) => {
        const differs = apart[pair++] === "1";
        if (differs && one.run_id === run) others.add(other.run_id);
        if (differs && other.run_id === run) others.add(one.run_id);
      }),
    );
  return others;
}

/** The line below the last run that is not significantly worse than the first. */
function rule(board, shown, width) {
  const worse = worseRuns(board);
  const last = shown.findLastIndex((row) => board.leading.includes(row.run_id));
  if (!worse.size || last < 0 || last === shown.length - 1) return null;
  const text = `below this line: significantly worse than ${board.rows[0].run_id} (${board.test}, p < .05)`;
  return { after: last, row: el("tr", { class: "cut" }, el("td", { colspan: width, title: text }, text)) };
}

function sentence(board, measure, data, chosen, first) {
  const parts = [board.meaning, board.is_less_better ? " Lower is better." : ""];
  parts.push(` ● mean over ${count(board.n_topics, "topic")}`, board.is_of_answered ? " that a run answered" : "");
  parts.push(", — 95% interval");
  if (board.rows.some((row) => row.bounds)) parts.push(", ⎵ bounds if every missing judgement were the worst or the best");
  if (board.rows.some((row) => row.corrected)) parts.push(`, ◇ corrected with people's labels (${data.labels})`);
  parts.push(".");
  if (chosen && board.apart && !board.least_topics) parts.push(` Dimmed: significantly different from ${chosen}.`);
  else if (board.leaders && measure !== first) parts.push(` ${board.leaders[0].toUpperCase()}${board.leaders.slice(1)}.`);
  return parts.join("");
}

function views(id, isTable) {
  const to = (name, isNow) =>
    isNow
      ? el("b", {}, name)
      : el("button", { type: "button", class: "quiet", name: `${id}.${name}`,
          onclick: () => go(id, { [`${id}.view`]: name === "chart" ? "" : name }) }, name);
  return el("span", { class: "views" }, "Show ", to("chart", !isTable), " · ", to("table", isTable));
}

/** The runs that the address picks, by their numbers in the order of the files; empty: all. */
function pickedRuns(id, head) {
  const numbers = get(`${id}.runs`).split(".").filter(Boolean).map(Number);
  return new Set(numbers.map((i) => head.runs[i]).filter((run) => run !== undefined));
}

let isPicking = false;

function picker(id, head, picked) {
  const pick = (runs) => {
    const numbers = head.runs.flatMap((run, i) => (runs.has(run) ? [i] : []));
    go(id, { [`${id}.runs`]: numbers.length === head.runs.length ? "" : numbers.join(".") });
  };
  const box = (run) => {
    const isOn = !picked.size || picked.has(run);
    const onchange = (event) => {
      const all = new Set(picked.size ? picked : head.runs);
      if (event.target.checked) all.add(run);
      else all.delete(run);
      pick(all);
    };
    return el("label", { title: run }, el("input", { type: "checkbox", name: `${id}.run ${run}`, checked: isOn, onchange }), run);
  };
  const some = picked.size ? ` (${count(picked.size)} of ${count(head.runs.length)})` : "";
  const open = (event) => { isPicking = event.target.open; };
  return el("details", { class: "picker", open: isPicking, ontoggle: open },
    el("summary", {}, `Choose runs${some}`),
    el("button", { type: "button", class: "quiet", name: `${id}.all`, onclick: () => go(id, { [`${id}.runs`]: "" }) }, "Show all"),
    el("div", { class: "picks" }, head.runs.map(box)));
}

function linksTo(head, run, measure) {
  const known = [
    ["profile", "where it fails"],
    ["answer", "its answers"],
    ["matrix", "its facts"],
    ["topics", "its topics"],
    ["pairs", "compared with others"],
  ];
  const present = known.filter(([section]) => has(head, section));
  return present.flatMap(([section, words], i) => [
    i ? " · " : "",
    el("a", { href: link(section, { run, measure }) }, words),
  ]);
}

function oracles(board, measure) {
  const digits = digitsOf(board);
  const named = board.oracles.map((row) => `${row.run_id} (${row.what}) ${num(row.mean, digits)}`);
  return el("p", { class: "lead" }, `References for comparison, by ${measure} (they are not runs): ${named.join("; ")}.`);
}
