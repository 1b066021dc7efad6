// Two answers to one topic: the reference items on which they differ, then the others, and the two texts.

import { count, el, num, scroller, snapshot } from "../el.js";
import { KINDS, fact, finder, kindOf, look, mark, worth } from "../labels.js";
import { saves } from "../save.js";
import { get, go, link } from "../state.js";
import { absent, answersTo, left, named, plainText, summary, textIndex } from "./answer.js";

export const keys = ["topic", "run", "other", "measure", "item"];

/** See page.js; drawn when its texts are unpacked. */
export function draw(view) {
  const root = view.once("root", "", () => el("div", { class: "answer sides", style: { "min-height": "60vh" } }));
  const drawing = {};
  view.drawing = drawing;
  filled(view).then(
    (nodes) => {
      if (view.drawing !== drawing) return;
      const restore = snapshot(root);
      root.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
      restore();
      root.style.removeProperty("min-height");
    },
    (error) => root.replaceChildren(el("p", { class: "nothing" }, `The texts cannot be opened: ${error.message}`)),
  );
  return [el("p", { class: "lead" }, "Two answers to the same topic. Items that only one of them states come first. ",
    el("mark", {}, "Yellow"), ": words that the judge quoted for them. ", el("mark", { class: "words" }, "Dashed"),
    ": shared words only. Choose an item to see its words in both texts."), root];
}

async function filled({ id, head, data }) {
  const index = await textIndex();
  const topics = head.topics.filter((topic) => Object.hasOwn(index.topics, topic));
  const topic = get("topic") || topics[0] || "";
  const texts = await answersTo(topic);
  const choose = finder(id, "topic", "topic", topics.map((one) => [one, data.questions?.[one] ?? ""]), topic);
  if (!texts) return [el("div", { class: "controls" }, choose), absent(index, topic), left(index)];
  const measure = get("measure", head.measures[0]);
  const valueOf = (run) => texts.answers.get(run)?.scores.find(([name]) => name === measure)?.[1] ?? null;
  const order = [...head.runs].sort((a, b) => (valueOf(b) ?? -1) - (valueOf(a) ?? -1));
  const run = head.runs.includes(get("run")) ? get("run") : order[0];
  const other = head.runs.includes(get("other")) && get("other") !== run ? get("other") : order.find((one) => one !== run);
  const options = order.map((one) => [one, num(valueOf(one))]);
  const both = [run, other];
  const answers = both.map((one) => (texts.answers.has(one) ? { ...texts.answers.get(one), byWords: new Set(data.by_words) } : null));
  const rows = compared(answers);
  const differing = rows.filter((row) => row.differs);
  const item = get("item");
  return [
    el("div", { class: "controls" }, choose, finder(id, "run", "run", options, run), finder(id, "against", "other", options, other),
      el("button", { type: "button", class: "quiet", onclick: () => go(id, { run: other, other: run }) }, "Swap")),
    el("h3", {}, `${run} and ${other}`, el("span", { class: "question" }, ` · ${texts.question || topic}`)),
    rows.length ? differences(id, { topic, both, rows, differing, item })
      : el("p", { class: "nothing" }, "There are no reference items here to compare: only citations were judged."),
    el("div", { class: "pair" }, both.map((one, i) => el("article", { class: "side", "aria-label": one },
      el("h4", {}, el("a", { href: link("answer", { run: one, topic, item: "", sentence: "" }) }, one)),
      answers[i]
        ? [el("p", { class: "in-short" }, summary(answers[i], measure)), plainText(answers[i], item, new Set(differing.map(({ key }) => key)))]
        : el("p", { class: "nothing" }, `${one} has no answer to topic ${topic}.`)))),
    left(index),
  ];
}

/** Items that either answer was judged by: { key, item, text, importance, weight, kind, labels, differs }. */
function compared(answers) {
  const found = new Map();
  answers.forEach((answer, side) => {
    for (const one of answer?.judged ?? []) {
      if (one.sentence !== undefined || one.program === "claims") continue;
      const key = `${one.program} ${one.item}`;
      const [text, importance, weight] = named(answer, one);
      if (!found.has(key)) found.set(key, { key, item: one.item, text, importance, weight, kind: kindOf(one.program, weight), labels: [] });
      found.get(key).labels[side] = one.label ?? "unjudged";
    }
  });
  const rank = ({ differs, importance, weight }) => [differs ? 0 : 1, importance === "vital" ? 0 : 1, -Math.abs(weight ?? 0)];
  return [...found.values()].map((row) => {
    const [one, other] = row.labels;
    return { ...row, differs: one !== other && one !== "unjudged" && other !== "unjudged" };
  }).map((row) => [rank(row), row]).sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).map(([, row]) => row);
}

function differences(id, { topic, both, rows, differing, item }) {
  const names = [...new Set(rows.map(({ kind }) => KINDS[kind]?.item ?? "item"))];
  const noun = names.length === 1 ? names[0] : "item";
  const plural = (names.length === 1 && KINDS[rows[0].kind]?.several) || "items";
  const same = rows.length - differing.length;
  const word = ({ kind, labels }, side) => (labels[side] === undefined ? "no answer" : look(kind, labels[side]).word);
  const cell = (row, side) => el("td", { class: "c" }, row.labels[side] === undefined ? "–" : mark(look(row.kind, row.labels[side]), word(row, side)));
  const line = (row) => el("tr", { "aria-current": row.item === item ? "true" : null },
    el("th", { scope: "row", class: "words fact-text" }, worth(row.weight), fact(
      el("a", { class: "plain", href: link(id, { item: row.item === item ? "" : row.item }), title: "show its words in both texts" }, row.text), row.importance)),
    cell(row, 0), cell(row, 1));
  const group = (title, some) => (some.length
    ? el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", colspan: 3, class: "words group" }, title)), some.map(line)) : null);
  const table = el("table", { class: "matrix" }, el("caption", { class: "unseen" }, `${both[0]} and ${both[1]} on topic ${topic}`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "words" }, noun), both.map((run) => el("th", { scope: "col", class: "c name" }, run)))),
    group(`They differ on ${differing.length} of ${count(rows.length, noun, plural)}`, differing),
    group(differing.length ? `The same, or not judged: ${same}` : `No difference on ${count(rows.length, noun, plural)}`, rows.filter((row) => !row.differs)));
  return el("figure", { class: "table" },
    scroller("Differences", {}, table),
    el("p", { class: "under" }, saves({ id: `${id}.${topic}`, title: `${both[0]} and ${both[1]} on topic ${topic}`, drawn: () => table,
      rows: () => [[noun, "importance", "weight", "differs", ...both],
        ...rows.map((row) => [row.text, row.importance, row.weight ?? null, row.differs ? "yes" : "no", word(row, 0), word(row, 1)])] })));
}
