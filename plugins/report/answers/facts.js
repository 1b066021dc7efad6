// What an answer states and misses: its nuggets, key points, sub-questions or criteria, those that matter most first.

import { count, el } from "../web/el.js";
import { link } from "../web/state.js";
import { KINDS, kindOf, look, PENALTIES } from "./labels.js";
import { notesOn } from "./notes.js";
import { fact, worth } from "./parts.js";
import { named } from "./reading.js";


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
