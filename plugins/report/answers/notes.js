// The judgements of an answer: label, quotes, reason, labels of people, and the passage.

import { el, num } from "../web/el.js";
import { marked, sharedWords } from "../web/marked.js";
import { look } from "./labels.js";
import { mark } from "./parts.js";

const WORDS = { class: "words", title: "shared words, which is all that this judge compares" };

/** How what was quoted is drawn: as words that are shared where its judge compares nothing else. */
export function quoteClass({ byWords }, one) {
  return byWords.has(one.program) ? WORDS.class : "";
}

/** Label, reason, quotes and people's labels of one judgement. */
export function notesOn(one, answer, kind = one.program) {
  const seen = look(kind, one.label);
  const score = one.score === undefined ? "" : ` · score ${num(one.score, 2)}`;
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
    one.raw ? el("details", {}, el("summary", {}, "the reply as it came"), el("pre", {}, one.raw)) : null,
  ];
}

function quote([of, words, spans, offsets, isQuoted]) {
  const isFound = spans.length || offsets;
  const why = isQuoted === false ? ` These words do not stand in the ${of || "text"}.` : isFound ? "" : ` Of the ${of || "text"}.`;
  return el("p", { class: isQuoted === false ? "unfound" : null }, `“${words}”`, why ? el("small", {}, why) : null);
}

/** A passage, folded, with what was quoted of it, or else the words that it shares with the sentence. */
export function passage(one, { passages, byWords }, sentence) {
  if (!one.docid) return null;
  const known = Object.hasOwn(passages, one.docid) ? passages[one.docid] : null;
  if (!known && one.unjudged) return null;
  if (!known) return el("p", { class: "source" }, `${one.docid}: its text is not here.`);
  const [title, text] = known;
  const quotes = (one.evidence ?? []).filter(([, , , offsets]) => offsets)
    .map(([, , , [start, end]]) => ({ start, end, ...(byWords.has(one.program) ? WORDS : { title: "quoted by the judge" }) }));
  const marks = quotes.length ? quotes : sharedWords(text, sentence ?? "");
  return el("details", { class: "passage" }, el("summary", {}, title ? `${title} ` : "", el("small", {}, one.docid)),
    el("p", {}, marked(text, marks)));
}
