// Is one run better than another.

import { count, el, nameParts, num } from "../web/el.js";
import { saves } from "../web/save.js";
import { scroller } from "../web/scroller.js";
import { get, link } from "../web/state.js";
import { table } from "../web/table.js";
import { choice, measureOf, nameOf, unknown } from "./chosen.js";
import { chance, detail, figures, pairOf } from "./pair.js";

export const keys = ["measure", "run", "other"];

const MOST = 60; // runs, up to which all pairs stand in a table

/** See page.js. */
export function draw({ id, data, head, once }) {
  const available = Object.keys(data.measures);
  const measure = measureOf(head, available);
  const given = data.measures[measure];
  const { runs } = given;
  const first = nameOf("run", runs) || runs.find((run) => run !== get("other")) || runs[0];
  const second = [nameOf("other", runs), ...runs].find((run) => run && run !== first);
  const all = () =>
    chosen(
      once("matrix", measure, () => matrix(id, given, measure)),
      runs.indexOf(first),
      runs.indexOf(second),
    );
  const notTested = (name) =>
    `Pairs are not tested by ${name} here: judge compare RESULTS --measure ${name} does. Below by ${measure}.`;
  return [
    el(
      "div",
      { class: "controls" },
      choice(id, "measure", "Measure", available, measure),
      choice(id, "run", "Run", runs, first),
      choice(
        id,
        "other",
        "against",
        runs.filter((run) => run !== first),
        second,
      ),
    ),
    ...unknown(head, available, notTested),
    el("p", { class: "lead" }, sentence(given, measure)),
    runs.length > MOST ? neighbours(id, given, measure) : all(),
    ...detail(id, head, given, measure, first, second),
  ];
}

function sentence({ runs, n_topics, n_topics_all_judged, test, least_topics, is_told_apart }, measure) {
  const apart = is_told_apart.replaceAll(/[^1]/g, "").length;
  const of = test === "HSD" ? "Tukey HSD" : test;
  const part =
    test === "HSD" && n_topics_all_judged < n_topics
      ? ` HSD uses the ${n_topics_all_judged} of ${n_topics} topics on which every run has a score.`
      : "";
  const few = least_topics
    ? ` Too few shared topics to find differences between ${runs.length} runs: at least ${least_topics} are needed.`
    : "";
  return (
    `Difference of mean ${measure}, the run of the row minus that of the column; ` +
    `bold with ▲ or ▼: significantly different (${of}, p < .05), ` +
    `${count(apart)} of ${count(is_told_apart.length, "pair")}.${part}${few} Choose a cell for the topics behind it.`
  );
}

function matrix(id, given, measure) {
  const { runs } = given;
  const head = runs.map((run, j) => el("th", { scope: "col", title: run, "aria-label": run }, String(j + 1)));
  const cell = (i, j) => {
    if (i === j) return el("td", { class: "itself" }, "");
    const { index, sign } = pairOf(runs.length, i, j);
    const difference = given.difference[index];
    const value = difference === null ? null : sign * difference;
    const isApart = given.is_told_apart[index] === "1";
    const mark = isApart ? (value > 0 ? "▲" : "▼") : "";
    const name = `${runs[i]} minus ${runs[j]}: ${num(value, 3, true)}${isApart ? ", significant" : ""}`;
    return el(
      "td",
      { class: isApart ? (value > 0 ? "more" : "less") : null },
      el(
        "a",
        {
          href: link(id, { run: runs[i], other: runs[j], measure }),
          title: name,
          "aria-label": name,
          tabindex: "-1",
        },
        mark,
        num(value, 2, true),
      ),
    );
  };
  const body = runs.map((run, i) =>
    el(
      "tr",
      {},
      el(
        "th",
        { scope: "row", title: run },
        el("small", {}, `${i + 1} `),
        el("a", { class: "plain", href: link("profile", { run, measure }) }, nameParts(run)),
      ),
      runs.map((_, j) => cell(i, j)),
    ),
  );
  const title = `Differences of ${measure} between all pairs of runs`;
  const drawn = el(
    "table",
    {},
    el("caption", { class: "unseen" }, title),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), head)),
    el("tbody", {}, body),
  );
  const value = (i, j, isPrinted) => {
    if (i === j) return "";
    const { index, sign } = pairOf(runs.length, i, j);
    const difference = given.difference[index];
    if (difference === null) return null;
    return isPrinted ? num(sign * difference, 2, true) : sign * difference;
  };
  return el(
    "figure",
    { class: "grid", onkeydown: move },
    scroller(`Pairs by ${measure}`, { tabindex: "-1" }, drawn),
    el(
      "p",
      { class: "under" },
      saves({
        id: `${id}.all`,
        measure,
        title,
        drawn: () => drawn,
        rows: (isPrinted) => [
          ["run", ...(isPrinted ? runs.map((_, j) => j + 1) : runs)],
          ...runs.map((run, i) => [
            isPrinted ? `${i + 1} ${run}` : run,
            ...runs.map((_, j) => value(i, j, isPrinted)),
          ]),
        ],
      }),
    ),
  );
}

/** The table of all pairs with one of them chosen. */
function chosen(figure, i, j) {
  for (const link of figure.querySelectorAll('[aria-current], [tabindex="0"]')) {
    link.removeAttribute("aria-current");
    link.setAttribute("tabindex", "-1");
  }
  const link = figure.querySelector("tbody").rows[i].cells[j + 1].firstElementChild;
  link.setAttribute("aria-current", "true");
  link.setAttribute("tabindex", "0");
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

function neighbours(id, given, measure) {
  const { runs } = given;
  const rows = runs.slice(1).map((run, i) => ({ i, run: runs[i], other: run, ...figures(given, i, i + 1) }));
  return table({
    id: `${id}.steps`,
    of: id,
    measure,
    caption: `Each run against the next by ${measure}`,
    rows,
    order: "rank",
    columns: [
      {
        key: "run",
        label: "run",
        isText: true,
        value: (row) => row.run,
        cell: (row) => el("a", { href: link(id, { run: row.run, other: row.other }) }, nameParts(row.run)),
      },
      { key: "other", label: "the next", isText: true, value: (row) => row.other },
      { key: "rank", label: "rank", value: (row) => row.i + 1 },
      {
        key: "difference",
        label: "difference",
        value: (row) => row.difference,
        cell: (row) => num(row.difference, 3, true),
      },
      { key: "p", label: "p", value: (row) => row.p, cell: (row) => chance(row.p) },
      {
        key: "corrected",
        label: given.test === "HSD" ? "p, HSD" : "p, Holm",
        value: (row) => row.corrected,
        cell: (row) => chance(row.corrected),
      },
      { key: "apart", label: "significant", isText: true, value: (row) => row.apart },
    ],
  });
}
