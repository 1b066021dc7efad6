// A topic's facts as a list: what each says, where it comes from, and what can be done with it.

import { el } from "../../../report/web/el.js";

const IMPORTANCE = { vital: "vital", okay: "okay" };

/** What happened to a fact since the start, in words; "" for nothing.
 *
 * `from` of a fact: { id, text } of those at the start that it comes from, itself where it is as it was. Ids alone,
 * without itself, do too; then nobody can say whether a fact that comes from none was added.
 */
export function origin(fact, all) {
  const from = (fact.from ?? []).map((one) => (typeof one === "string" ? { id: one, text: null } : one));
  const namesItself = (one) => (one.from ?? []).some((root) => root.id !== undefined);
  if (!from.length) return { words: fact.waiting || all.some(namesItself) ? "added" : "", was: [] };
  if (from.length === 1 && from[0].id === fact.id) return { words: "", was: [] };
  const was = from.map(({ text }) => text).filter((text) => text && text !== fact.text);
  if (from.length > 1) return { words: `merged from ${from.length}`, was };
  const isOne = (other) => (other.from ?? []).some((one) => (one.id ?? one) === from[0].id);
  return { words: all.filter(isOne).length > 1 ? "split from" : was.length ? "reworded, was" : "reworded", was };
}

/** A row. `acts` are { key, word, does, isPressed }, drawn where the row is the current one. */
export function row(fact, { at, isCurrent, isChosen, isWaiting, importance, all, acts, ongo }) {
  const { words, was } = origin(fact, all);
  const rating = IMPORTANCE[fact.importance];
  return el("li", {
    id: `fact-${at}`, class: "fact", tabindex: isCurrent ? "0" : "-1", "aria-current": isCurrent ? "true" : null,
    onclick: (event) => {
      if (!event.target.closest("button, textarea")) ongo();
    },
  },
  el("p", { class: "t" }, isChosen ? el("span", { class: "tag" }, "selected") : null, fact.text),
  importance ? el("p", { class: rating ? "worth" : "worth open" }, rating ?? "not rated") : null,
  words ? el("p", { class: "origin" }, words, was.length ? [" ", was.map((text, i) => [i ? " + " : "", el("q", {}, text)])] : null) : null,
  isWaiting ? el("p", { class: "origin" }, "not saved yet: the server has not answered. The page will send it again.") : null,
  isCurrent && !isWaiting ? el("p", { class: "acts" }, acts.map(({ key, word, does, isPressed }) => el("button", {
    type: "button", onclick: does, "aria-pressed": isPressed === undefined ? null : String(isPressed),
  }, word, " ", el("kbd", { "aria-hidden": "true" }, key)))) : null);
}
