// How labels are drawn everywhere, a glyph, a tone and a word each; matrices of labels; parts of facts.

import { unpacked } from "./data.js";
import { el } from "./el.js";
import { go, link } from "./state.js";

const UNJUDGED = { glyph: "?", tone: "u", word: "not judged" };

/** By kind of matrix: how it is called, its rows, and each of its labels. Programs declare theirs, see `declare`. */
export const KINDS = {
  claims: {
    title: "Claims", item: "claim", hit: "state a key point", labels: {
      yes: { glyph: "✓", tone: "f", word: "states a key point" },
      no: { glyph: "✗", tone: "n", word: "states no key point" },
    },
  },
  reports: { title: "Sub-questions in reports", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
  passages: { title: "Sub-questions in passages", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
};

function ratings() {
  const tones = ["n", "a1", "a2", "a3", "a4", "f"];
  return Object.fromEntries(tones.map((tone, rating) => [rating, { glyph: String(rating), tone, word: `rated ${rating} of 5` }]));
}

/** Take over what programs declare of their kinds: { title, item, hit, first, labels: [glyph, tone, word] by label, penalties }. */
export function declare(kinds) {
  for (const [name, { labels, penalties, ...words }] of Object.entries(kinds)) {
    const looks = Object.entries(labels).map(([label, [glyph, tone, word]]) => [label, { glyph, tone, word }]);
    KINDS[name] = { ...words, labels: Object.fromEntries(looks) };
    if (penalties) declare({ [name + PENALTIES]: penalties });
  }
}

export const PENALTIES = " penalties"; // after the name of a program: its points with a weight below 0

/** The kind of what a program judged; a point with a weight below 0 is a penalty. */
export function kindOf(program, weight) {
  if (weight < 0) return program + PENALTIES;
  return program === "coverage" ? "reports" : program;
}

/** How a label of a kind, or of a program, is drawn. */
export function look(kind, label) {
  if (label === null || label === undefined || label === "unjudged") return UNJUDGED;
  if (kind === "uncited") return KINDS.support?.labels.uncited ?? UNJUDGED;
  const labels = KINDS[kindOf(kind)]?.labels ?? {};
  return (Object.hasOwn(labels, label) && labels[label]) || { glyph: "•", tone: "o", word: String(label).replaceAll("_", " ") };
}

/** A label as its glyph in its tone; where there is an address, a link. */
export function mark(look, name, address = "") {
  const props = { class: `glyph ${look.tone}`, title: name, "aria-label": name };
  return address ? el("a", { ...props, href: address }, look.glyph) : el("i", { ...props, role: "img" }, look.glyph);
}

/** A choice that stands in the address under `key`; options are [value, text]. */
export function choice(of, label, key, options, chosen) {
  const select = el("select", { onchange: () => go(of, { [key]: select.value }) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return el("label", {}, label, select);
}

/** A field with a list to choose one of many from: it filters as it is typed in; "" is none. */
export function finder(of, label, key, options, chosen, none = "") {
  const id = `${of}-${key}`;
  const input = el("input", { id, list: `${id}-list`, value: chosen, placeholder: none, onchange: () => {
    const wanted = input.value.trim();
    const option = options.find(([value]) => value === wanted)
      ?? options.find(([value, text]) => wanted && `${value} ${text}`.toLowerCase().includes(wanted.toLowerCase()));
    if (option || !wanted) go(of, { [key]: option ? option[0] : "" });
    input.setCustomValidity(option || !wanted ? "" : `No ${label} matches.`);
    input.reportValidity();
  } });
  return el("label", {}, label, input,
    listed(`${id}-list`, options),
    chosen && none ? el("a", { href: link(of, { [key]: "" }) }, none) : null);
}

const lists = new Map();

/** The options to choose from; the same ones are made once. */
function listed(id, options) {
  const key = JSON.stringify(options);
  if (lists.get(id)?.key !== key)
    lists.set(id, { key, node: el("datalist", { id }, options.map(([value, text]) => el("option", { value }, text))) });
  return lists.get(id).node;
}

/** The weight of a point with its sign, as a tag; nothing for what has none. */
export function worth(weight) {
  if (weight === undefined || weight === null) return null;
  const text = `${weight < 0 ? "−" : "+"}${Math.abs(weight)}`;
  const title = weight < 0 ? "penalty: subtracted if it applies" : "weight: added if it is met";
  return el("span", { class: weight < 0 ? "worth penalty" : "worth", title }, text);
}

/** Text without a place to break is broken anywhere; an importance as a tag before it, its part of a narrative under it. */
export function fact(text, importance, part = "") {
  return [importance === "vital" ? el("span", { class: "vital" }, "vital") : null, text, part ? el("div", { class: "note" }, part) : null];
}

/** The matrix of this JSON; every number in it is taken out when it is asked for. */
export class Matrix {
  constructor(given) {
    Object.assign(this, given);
    this.code = unpacked(given.cells, given.bits);
    this.looks = given.codes.map((label) => look(given.kind, label));
    this.isHit = new Set(given.hits);
    this.unjudged = given.codes.indexOf("unjudged");
    this.byTopic = new Map();
    let start = 0;
    for (const topic of given.topics) {
      this.byTopic.set(topic.id, { ...topic, start });
      start += given.is_strip ? topic.lengths.reduce((a, b) => a + b, 0) : topic.items.length * given.runs.length;
    }
  }

  /** The facts of a topic: { id, text, importance, part of the narrative ("": none), codes by run, null without an answer, and counts }. */
  facts(id) {
    const topic = this.byTopic.get(id);
    const absent = new Set(topic.absent);
    return topic.items.map(([item, text, importance, part = ""], row) => {
      const codes = this.runs.map((_, r) => (absent.has(r) ? null : this.code(topic.start + row * this.runs.length + r)));
      return { topic: id, question: topic.question, id: item, text, importance, part, codes, ...this.counted(codes) };
    });
  }

  /** Of each run of a topic, the codes of its sentences in order; null without an answer. */
  strips(id) {
    const topic = this.byTopic.get(id);
    let at = topic.start;
    return topic.lengths.map((length) => {
      const codes = length ? Array.from({ length }, (_, i) => this.code(at + i)) : null;
      at += length;
      return codes;
    });
  }

  /** How many of these codes state a fact, of how many that were judged. */
  counted(codes) {
    let n = 0;
    let hits = 0;
    let unjudged = 0;
    for (const code of codes) {
      if (code === null || code > this.unjudged) continue;
      if (code === this.unjudged) unjudged += 1;
      else n += 1;
      if (this.isHit.has(code)) hits += 1;
    }
    return { n, hits, unjudged, rate: n ? hits / n : null };
  }

  /** The facts of all topics, those that fewest runs state first, vital before okay. */
  missed() {
    const all = this.topics.flatMap(({ id }) => this.facts(id));
    const rank = (fact) => [fact.rate ?? 2, fact.importance === "vital" ? 0 : 1, -fact.n];
    return all.map((fact) => [rank(fact), fact])
      .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
      .map(([, fact]) => fact);
  }
}
