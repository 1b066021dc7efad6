// A question with its answers as buttons that stay pressed: a glyph, a word and a key each.

import { el } from "../../../report/web/el.js";

const TONES = { "✗": "none", "◐": "part", "✓": "full" };

/** A group of buttons. Not radios: arrows would choose, and a choice is kept at once.
 *
 * choices: { label, word, key, mark }; chosen: one of their labels, undefined: none yet.
 */
export function choices({ legend, choices: all, chosen, onchoose, id, disabled = false }) {
  const button = (one) => el("button", {
    type: "button", class: "choice", "aria-pressed": String(chosen !== undefined && one.label === chosen), disabled,
    "data-label": one.label ?? "", title: one.meaning || null, onclick: () => onchoose(one.label),
  }, mark(one), el("span", {}, one.word), one.key && !disabled ? el("kbd", { "aria-hidden": "true" }, one.key) : null);
  return el("div", { class: "question", role: "group", "aria-labelledby": `${id}-legend`, id },
    el("p", { class: "legend", id: `${id}-legend` }, legend), el("div", { class: "row" }, all.map(button)));
}

/** The label's glyph with its tone; a digit is its own. */
export function mark({ mark: glyph }) {
  return el("i", { class: `mark ${TONES[glyph] ?? "other"}`, "aria-hidden": "true" }, glyph);
}

/** What is chosen by a key: the label, null for "cannot tell", undefined for no such key. */
export function byKey(all, key) {
  return all.find((one) => one.key === key)?.label;
}

/** The labels of a task, and what says that none can be given, which comes last. */
export function withCannotTell({ scale, cannot_tell: key = "0" }) {
  return [...scale, { label: null, word: "cannot tell", key, mark: "?" }];
}
