// One answer, sentence by sentence, with what was judged of it and why.

import { inflated } from "../data.js";
import { count, el, marked, num, sharedWords, snapshot } from "../el.js";
import { KINDS, PENALTIES, fact, finder, kindOf, look, mark, worth } from "../labels.js";
import { has } from "../runs.js";
import { bind, get, go, link, section } from "../state.js";

let index = null;
const opened = new Map();

/** Where texts are: { topics: by topic, numbers of islands, left }. */
export async function textIndex() {
  if (document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  const island = document.getElementById("texts");
  index ??= island ? JSON.parse(island.textContent) : { topics: {}, left: {} };
  return index;
}

/** The answers to a topic: { question, answers, by run, each with its `items` and `passages` }; null without texts. */
export async function answersTo(topic) {
  const { topics } = await textIndex();
  if (!Object.hasOwn(topics, topic)) return null;
  if (!opened.has(topic)) {
    const parts = await Promise.all(topics[topic].map(opening));
    const answers = new Map();
    for (const { items, passages, answers: ofPart } of parts)
      for (const [run, answer] of Object.entries(ofPart)) answers.set(run, { ...answer, items, passages });
    if (opened.size > 8) opened.delete(opened.keys().next().value);
    opened.set(topic, { question: parts.find((part) => part.question)?.question ?? "", answers });
  }
  return opened.get(topic);
}

async function opening(number) {
  return JSON.parse(await inflated(document.getElementById(`texts-${number}`).textContent));
}

const WORDS = { class: "words", title: "shared words: this judge compares nothing else" };

/** The class of a quote: shared words if its judge compares nothing else. */
export function quoteClass({ byWords }, one) {
  return byWords.has(one.program) ? WORDS.class : "";
}

/** Label, reason, quotes and people's labels of one judgement. */
export function notesOn(one, answer, kind = one.program) {
  const seen = look(kind, one.label);
  const score = one.score === undefined ? "" : ` · score ${num(one.score)}`;
  const isJudged = one.label !== undefined && one.label !== "uncited" && kind !== "uncited";
  const by = isJudged && answer.byWords.has(one.program) ? " · by shared words" : "";
  const people = (one.people ?? []).map(([name, label, why]) => el("li", {},
    el("b", {}, name || "people"), ": ", look(kind, label).word,
    label === one.label ? "" : el("span", { class: "differs" }, " (the judge differs)"), why ? `. ${why}` : ""));
  return [
    el("span", { class: "verdict" }, mark(seen, seen.word), ` ${seen.word}${score}${by}`),
    one.unjudged ? el("p", {}, `${one.unjudged}${one.detail ? `: ${one.detail}` : ""}`) : null,
    one.reasoning ? el("p", {}, el("b", {}, "Judge: "), one.reasoning) : null,
    (one.evidence ?? []).map(quote),
    people.length ? el("ul", { class: "people" }, people) : null,
    one.raw ? el("details", {}, el("summary", {}, "raw reply"), el("pre", {}, one.raw)) : null,
  ];
}

function quote([of, words, spans, offsets, isQuoted]) {
  const isFound = spans.length || offsets;
  const why = isQuoted === false ? ` These words are not in the ${of || "text"}.` : isFound ? "" : ` From the ${of || "text"}.`;
  return el("p", { class: isQuoted === false ? "unfound" : null }, `“${words}”`, why ? el("small", {}, why) : null);
}

/** A passage, folded, with what was quoted of it, or else the words that it shares with the sentence. */
export function passage(one, { passages, byWords }, sentence) {
  if (!one.docid) return null;
  const known = Object.hasOwn(passages, one.docid) ? passages[one.docid] : null;
  if (!known && one.unjudged) return null;
  if (!known) return el("p", { class: "source" }, `${one.docid}: this page does not have its text.`);
  const [title, text] = known;
  const quotes = (one.evidence ?? []).filter(([, , , offsets]) => offsets)
    .map(([, , , [start, end]]) => ({ start, end, ...(byWords.has(one.program) ? WORDS : { title: "quoted by the judge" }) }));
  const marks = quotes.length ? quotes : sharedWords(text, sentence ?? "");
  return el("details", { class: "passage" }, el("summary", {}, title ? `${title} ` : "", el("small", {}, one.docid)),
    el("p", {}, marked(text, marks)));
}

/** The sentences; `item` is the chosen fact, `sentence` the chosen index. */
export function reading(answer, item, sentence) {
  if (!answer.sentences.length)
    return el("p", { class: "nothing" }, "The text of this answer is missing: its file has changed or was moved.");
  const about = bySentence(answer, item);
  const rows = [];
  let cut = 0;
  answer.sentences.forEach(([text, citations], at) => {
    if (text === null) cut += 1;
    if (text === null && answer.sentences[at + 1]?.[0] === null) return;
    if (text === null) rows.push(el("div", { class: "row" }, el("p", { class: "cut" }, `[${count(cut, "sentence")} omitted]`)));
    else rows.push(row(answer, text, citations, at, about[at], item, sentence));
    if (text !== null || answer.sentences[at + 1]?.[0] !== null) cut = 0;
  });
  return el("div", { class: "read" }, rows);
}

function row(answer, text, citations, at, about, item, sentence) {
  const isChosen = sentence === String(at);
  const notes = [
    about.cited.map((one) => el("div", { class: "note" }, notesOn(one, answer, one.program === "support" && one.docid === undefined ? "uncited" : one.program), passage(one, answer, text))),
    citations.length && !about.cited.length ? el("p", { class: "source" }, `cites ${citations.join(", ")}`) : null,
    about.facts.map((one) => {
      const [text, , weight] = named(answer, one);
      const seen = look(kindOf(one.program, weight), one.label);
      return el("p", { class: "stated" }, mark(seen, seen.word, link("answer", { item: one.item, sentence: "" })), " ", worth(weight), text);
    }),
  ];
  return el("div", { class: "row", "aria-current": isChosen ? "true" : null },
    el("p", {}, marked(text, marks(answer, text, about, item))), el("div", { class: "notes" }, notes));
}

/** What was judged of each sentence: the marks of quotes in it, the facts that it is quoted for, its citations. */
function bySentence(answer, item) {
  const about = answer.sentences.map(() => ({ marks: [], facts: [], cited: [] }));
  for (const one of answer.judged) {
    if (one.sentence !== undefined) about[one.sentence]?.cited.push(one);
    for (const [, , spans] of one.evidence ?? [])
      for (const [at, start, end] of spans) {
        if (!about[at]) continue;
        const text = named(answer, one)[0];
        about[at].marks.push({ start, end, title: text, key: `${one.program} ${one.item}`, isChosen: one.item === item,
          class: quoteClass(answer, one) });
        if (one.sentence === undefined && !about[at].facts.includes(one)) about[at].facts.push(one);
      }
  }
  return about;
}

/** The text alone, with the words quoted for some items, or for the chosen one, and the labels of its citations. */
export function plainText(answer, item, keys) {
  const about = bySentence(answer, item);
  if (!answer.sentences.some(([text]) => text !== null))
    return el("p", { class: "nothing" }, "The text of this answer is missing: its file has changed or was moved.");
  return el("div", { class: "read" }, answer.sentences.map(([text], at) => {
    if (text === null) return at && answer.sentences[at - 1][0] === null ? null : el("p", { class: "cut" }, "[omitted]");
    const some = item ? marks(answer, text, about[at], item) : about[at].marks.filter(({ key }) => keys.has(key));
    const labels = about[at].cited.filter(({ docid }) => docid !== undefined).map((one) => {
      const seen = look(one.program, one.label);
      return mark(seen, `${one.docid}: ${seen.word}`);
    });
    return el("p", {}, marked(text, some), labels.map((one) => [" ", one]));
  }));
}

/** What is quoted of the sentence; where nothing is, the words that it shares with what it is judged by. */
function marks(answer, text, about, item) {
  const chosen = answer.judged.find((one) => one.item === item && one.sentence === undefined);
  if (chosen) {
    const isQuoted = (chosen.evidence ?? []).some(([, , spans]) => spans.length);
    return isQuoted ? about.marks.filter((one) => one.isChosen) : sharedWords(text, named(answer, chosen)[0]);
  }
  if (about.marks.length) return about.marks;
  const texts = about.cited.filter((one) => !(one.evidence ?? []).length && Object.hasOwn(answer.passages, one.docid));
  return sharedWords(text, texts.map((one) => answer.passages[one.docid][1]).join(" "));
}

/** [text, importance, weight] of what was looked for; a weight where points have one. */
export function named(answer, one) {
  return answer.items[`${one.program} ${one.item}`] ?? [one.item ?? "", ""];
}

/** A list for each program whose judgements are about the whole answer; penalties have one of their own. */
export function facts({ id, data }, answer, item) {
  const isHit = (one) => look(kind(one), one.label).glyph === "✓" || Number(one.label) >= data.eta;
  const whole = answer.judged.filter((one) => one.sentence === undefined);
  const kind = (one) => kindOf(one.program, named(answer, one)[2]);
  return [...new Set(whole.map(kind))].map((name) => {
    const of = whole.filter((one) => kind(one) === name);
    const isPenalty = name.endsWith(PENALTIES);
    const isGood = isHit;
    const rank = (one) => {
      const [, importance, weight] = named(answer, one);
      return [importance === "vital" ? 0 : 1, isGood(one) ? 1 : 0, -Math.abs(weight ?? 0)];
    };
    const n = of.filter((one) => (isPenalty ? one.label && !isGood(one) : isGood(one))).length;
    return [
      el("h4", {}, KINDS[name]?.title ?? name, el("small", {}, ` ${count(n)} of ${count(of.length)}${isPenalty ? " apply" : ""}`)),
      el("ul", { class: "facts-of" }, of.map((one) => [rank(one), one])
        .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).map(([, one]) => entry(id, answer, one, item))),
    ];
  });
}

function entry(id, answer, one, item) {
  const [text, importance, weight] = named(answer, one);
  const kind = kindOf(one.program, weight);
  const isChosen = one.item === item;
  const name = one.item ? el("a", { href: link(id, { item: isChosen ? "" : one.item, sentence: "" }), title: isChosen ? "show all quotes again" : "show where" }, text) : look(kind, one.label).word;
  return el("li", { "aria-current": isChosen ? "true" : null }, el("div", { class: "what" }, worth(weight), fact(name, importance)), el("div", { class: "note" }, notesOn(one, answer, kind)));
}

export const keys = ["topic", "run", "item", "sentence", "measure"];

/** See page.js. What is drawn comes when its texts are unpacked; until then what was there stays. */
export function draw(view) {
  const style = { "min-height": "100vh" }; // to scroll to, before it is filled
  const root = view.once("root", "", () => el("div", { class: "answer", style }));
  const drawing = {};
  view.drawing = drawing;
  filled(view).then(
    (nodes) => {
      if (view.drawing !== drawing) return;
      const restore = snapshot(root);
      root.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
      restore();
      root.style.removeProperty("min-height");
      if (section() === view.id) root.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
    },
    (error) => root.replaceChildren(el("p", { class: "nothing" }, `The texts cannot be opened: ${error.message}`)),
  );
  return [el("p", { class: "lead" }, "The answer of a run, with the judgements next to each sentence. ",
    el("mark", {}, "Yellow"), ": words that the judge quoted. ", el("mark", { class: "words" }, "Dashed"),
    ": words that both texts share; the judge did not quote them."), root];
}

/** See page.js. */
export function bound(view) {
  const step = (by) => () => {
    const { order, run } = view.shown ?? {};
    const next = order?.[order.indexOf(run) + by];
    if (section() !== view.id || !next) return false;
    go(view.id, { run: next, item: "", sentence: "" });
    return true;
  };
  bind("[", "the previous run's answer", step(-1));
  bind("]", "the next run's answer", step(1));
}

async function filled(view) {
  const { id, head } = view;
  const index = await textIndex();
  const topics = head.topics.filter((topic) => Object.hasOwn(index.topics, topic));
  const topic = get("topic") || topics[0] || "";
  const texts = await answersTo(topic);
  view.shown = null;
  const choose = finder(id, "topic", "topic", topics.map((one) => [one, view.data.questions?.[one] ?? ""]), topic);
  if (!texts) return [el("div", { class: "controls" }, choose), absent(index, topic), left(index)];
  const measure = get("measure", head.measures[0]);
  const worth = (run) => texts.answers.get(run).scores.find(([name]) => name === measure)?.[1] ?? -1;
  const order = [...texts.answers.keys()].sort((a, b) => worth(b) - worth(a));
  const run = get("run") || order[0];
  const controls = el("div", { class: "controls" }, choose, finder(id, "run", "run", order.map((one) => [one, num(worth(one) < 0 ? null : worth(one))]), run));
  const title = el("h3", {}, el("a", { class: "plain", href: link("profile", { run }) }, run), el("span", { class: "question" }, texts.question ? ` · ${texts.question}` : ` · ${topic}`));
  if (!texts.answers.has(run)) return [controls, title, el("p", { class: "nothing" }, `${run} has no answer to topic ${topic}.`), left(index)];
  view.shown = { order, run };
  const answer = { ...texts.answers.get(run), byWords: new Set(view.data.by_words) };
  const at = order.indexOf(run);
  const near = (by, text) => (order[at + by] ? el("a", { href: link(id, { run: order[at + by], item: "", sentence: "" }) }, text) : null);
  return [
    controls, title, el("p", { class: "in-short" }, summary(answer, measure)),
    el("p", { class: "near-runs" }, near(-1, "‹ better run"), el("span", {}, `${at + 1} of ${order.length} by ${measure} on this topic`), near(1, "next run ›"),
      has(head, "sides") && order.length > 1 ? el("a", { href: link("sides", { run, other: get("other") === run || !get("other") ? order[at === 0 ? 1 : 0] : get("other"), topic, item: "" }) }, "compare with another answer") : null),
    reading(answer, get("item"), get("sentence")), facts(view, answer, get("item")), left(index),
  ];
}

/** An answer in a line: its score, what it states, its length. */
export function summary(answer, measure) {
  const score = answer.scores.find(([name]) => name === measure);
  const vital = answer.judged.filter((one) => one.program === "nuggets" && answer.items[`nuggets ${one.item}`]?.[1] === "vital");
  const stated = vital.filter((one) => one.label === "support").length;
  const unjudged = answer.judged.filter((one) => one.label === undefined || one.unjudged).length;
  return [
    score ? `${measure} ${num(score[1])}` : "",
    vital.length ? `${stated} of ${count(vital.length, "vital nugget")} stated` : "",
    answer.length === null ? "" : count(answer.length, "word"),
    unjudged ? `${unjudged} of ${answer.judged.length} not judged` : count(answer.judged.length, "judgement"),
    answer.failed ? `failed: ${answer.failed}` : "",
  ].filter(Boolean).join(" · ");
}

/** What to do where the texts of a topic are not here. */
export function absent(index, topic) {
  const why = Object.keys(index.topics).length ? `This page does not have the texts of topic ${topic}. To include them:` : "This page does not have the texts of answers. To include them:";
  return [el("p", { class: "nothing" }, why), el("pre", {}, el("code", {}, "judge report RESULTS --texts all --max-mb 100"))];
}

/** What was left out of the page. */
export function left({ left: out }) {
  const of = `of ${count(out?.answers ?? 0, "answer")}`;
  return [
    out?.evidence ? el("p", { class: "nothing" }, `${count(out.evidence)} ${of} show only the sentences with judgements.`) : null,
    out?.none ? el("p", { class: "nothing" }, `${count(out.none)} ${of} have no text in this page (judge report --max-mb, --texts).`) : null,
  ];
}
