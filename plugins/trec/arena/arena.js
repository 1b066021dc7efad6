// Battles of answers: strengths with intervals, who beat whom, and what the position of an answer did to verdicts.

import { count, el, num } from "../../report/web/el.js";
import { table } from "../../report/web/table.js";

export const keys = [];

/** See page.js. */
export function draw({ id, data }) {
  return [
    el("p", { class: "lead" },
      "Two answers to a topic side by side, names hidden, judged in both orders; orders that disagree make a tie. "
        + "Strengths are Bradley-Terry's: 400 points more are odds of 10 to 1, and the mean is 1000. Brackets are 95% "
        + "intervals by topic."),
    ...data.folders.flatMap((folder, i) => ofFolder(id, folder, i, data.folders.length > 1)),
  ];
}

function ofFolder(id, folder, i, isNamed) {
  const of = isNamed ? `, ${folder.folder}` : "";
  return [
    isNamed ? el("h3", {}, folder.folder) : null,
    standings(`${id}.runs${i || ""}`, id, folder, of),
    el("ul", {}, remarks(folder).map((line) => el("li", {}, line))),
    el("h3", {}, `Who beat whom${of}`),
    matrix(`${id}.won${i || ""}`, id, folder, of),
  ].filter(Boolean);
}

function standings(name, id, { runs }, of) {
  const rating = (key, label) => ({ key, label, value: (row) => row[key][0], cell: (row) => bounded(row[key]) });
  const number = (key, label) => ({ key, label, value: (row) => row[key], cell: (row) => count(row[key]) });
  return table({
    id: name, of: id, caption: `Standings of the runs${of}`, rows: runs, order: "-strength",
    columns: [
      { key: "run", label: "run", isText: true, value: (row) => row.run },
      rating("strength", "strength"), rating("elo", "Elo"),
      { key: "win_rate", label: "win rate", value: (row) => row.win_rate, cell: (row) => num(row.win_rate) },
      number("battles", "battles"), number("wins", "won"), number("ties", "tied"), number("losses", "lost"),
      number("splits", "splits"),
      ...(runs.some((row) => row.forfeits) ? [number("forfeits", "lost without an answer")] : []),
      ...(runs.some((row) => row.unjudged) ? [number("unjudged", "not judged")] : []),
    ],
  });
}

function bounded([value, low, high]) {
  const round = (x) => count(Math.round(x));
  return low === null ? round(value) : `${round(value)} [${round(low)} ${round(high)}]`;
}

function remarks({ n, n_unjudged: nUnjudged, n_splits: nSplits, n_both: nBoth, has_prior: hasPrior, position, cost }) {
  const lines = [`${count(n, "battle")}; ${count(nSplits)} tied because their orders disagree (splits).`];
  if (nUnjudged)
    lines.push(`${count(nUnjudged, "battle")} not judged: in no count, and strengths have no bounds for them.`);
  if (nBoth) lines.push(`${count(nBoth, "verdict")} that both answers are bad, which counts as a tie.`);
  if (hasPrior)
    lines.push("Some runs never lost to the others: each is taken to have tied one battle with a mean run.");
  if (position && position.effect.value !== null) {
    const { value, low, high } = position.effect;
    lines.push(`Position: ${num(value)}${low === null ? "" : ` [${num(low)} ${num(high)}]`}: the share of verdicts for `
      + `the answer shown first (${count(position.n_first)}) minus that for the second (${count(position.n_second)}). `
      + "0 is a judge to whom position means nothing.");
  }
  if (cost) {
    const money = cost.dollars === null ? "money not known" : `$ ${cost.dollars.toPrecision(2)}`;
    lines.push(`A battle took ${num(cost.requests, 1)} requests, ${count(Math.round(cost.prompt_tokens))} + `
      + `${count(Math.round(cost.completion_tokens))} tokens, ${money}.`);
  }
  return lines;
}

function matrix(name, id, { runs, won }, of) {
  const rows = runs.map((one, i) => ({ run: one.run, won: won[i] }));
  const share = (pair) => (pair ? pair[0] / pair[1] : null);
  return table({
    id: name, of: id, caption: `Wins of the row, ties as half, of its battles with the column${of}`, rows,
    columns: [
      { key: "run", label: "won of battles with", isText: true, value: (row) => row.run },
      ...runs.map((one, j) => ({ key: `with${j}`, label: one.run, value: (row) => share(row.won[j]),
        cell: (row) => (row.won[j] ? `${row.won[j][0]} of ${row.won[j][1]}` : "–") })),
    ],
  });
}
