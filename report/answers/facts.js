// What an answer states and misses: its nuggets, key points, sub-questions or criteria, vital ones first.

import { count, el } from "../web/el.js";
import { link } from "../web/state.js";
import { KINDS, look } from "./labels.js";
import { said } from "./notes.js";
import { fact } from "./parts.js";
import { named } from "./reading.js";


/** A list for each program whose judgements are about the whole answer. */
export function facts({ id, data }, answer, item) {
  const hits = ["support", "yes", "supported", "met"];
  const isHit = ({ label }) => hits.includes(label) || Number(label) >= data.eta;
  const whole = answer.judged.filter((one) => one.sentence === undefined);
  return [...new Set(whole.map((one) => one.program))].map((program) => {
    const of = whole.filter((one) => one.program === program);
    const place = (one) => (named(answer, one)[1] === "vital" ? 0 : 2) + (isHit(one) ? 1 : 0);
    const kind = KINDS[program === "coverage" ? "reports" : program];
    return [
      el("h4", {}, kind?.title ?? program, el("small", {}, ` ${count(of.filter(isHit).length)} of ${count(of.length)}`)),
      el("ul", { class: "facts-of" }, [...of].sort((a, b) => place(a) - place(b)).map((one) => entry(id, answer, one, item))),
    ];
  });
}

function entry(id, answer, one, item) {
  const [text, importance] = named(answer, one);
  const isChosen = one.item === item;
  const name = one.item ? el("a", { href: link(id, { item: isChosen ? "" : one.item, sentence: "" }), title: isChosen ? "show all quotes again" : "show where" }, text) : look(one.program, one.label).word;
  return el("li", { "aria-current": isChosen ? "true" : null }, el("div", { class: "what" }, fact(name, importance)), el("div", { class: "note" }, said(one, answer)));
}
