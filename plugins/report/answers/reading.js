// The answer to read: a sentence a row, notes beside it.

import { el } from "../web/el.js";
import { link } from "../web/state.js";
import { marked, sharedWords } from "../web/marked.js";
import { kindOf, look } from "./labels.js";
import { notesOn, passage, quoteClass } from "./notes.js";
import { mark, worth } from "./parts.js";

/** The sentences; `item` is the chosen fact, `sentence` the chosen index. */
export function reading(answer, item, sentence) {
  if (!answer.sentences.length)
    return el("p", { class: "nothing" }, "The text of this answer is not here: its file has changed, or is not where it was.");
  const about = bySentence(answer, item);
  const rows = [];
  let cut = 0;
  answer.sentences.forEach(([text, citations], at) => {
    if (text === null) cut += 1;
    if (text === null && answer.sentences[at + 1]?.[0] === null) return;
    if (text === null) rows.push(el("div", { class: "row" }, el("p", { class: "cut" }, `[${cut === 1 ? "a sentence is" : `${cut} sentences are`} left out]`)));
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
    return el("p", { class: "nothing" }, "The text of this answer is not here: its file has changed, or is not where it was.");
  return el("div", { class: "read" }, answer.sentences.map(([text], at) => {
    if (text === null) return at && answer.sentences[at - 1][0] === null ? null : el("p", { class: "cut" }, "[left out]");
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

/** [text, importance, weight] of what was looked for; a weight of criteria alone. */
export function named(answer, one) {
  return answer.items[`${one.program} ${one.item}`] ?? [one.item ?? "", ""];
}
