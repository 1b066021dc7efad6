// A matrix of labels as it is counted and drawn: codes of facts by runs, or of sentences by run.

import { unpacked } from "../web/pack.js";
import { look } from "./labels.js";

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
