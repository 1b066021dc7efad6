// Labels to choose from: radios, each with a key, and drawn as glyph, tone and word.

import { el } from "../../../report/web/el.js";

const TONES = ["none", "a1", "a2", "a3", "a4", "full"]; // worst to best, as the report's ramp has them

/** The labels of a task's scale, worst to best, and "cannot tell", which is none of them.
 *
 * Each has label, word, key, mark and tone; `isGrade`: its mark is its key.
 */
export function choices({ scale, cannot_tell: key }) {
  const last = Math.max(scale.length - 1, 1);
  const labels = scale.map((one, i) => {
    const tone = i > 0 && i < last && scale.length === 3 ? "part" : TONES[Math.round((i / last) * 5)];
    const isGrade = one.key === one.label; // its own key, drawn once
    return { ...one, tone, isGrade, mark: isGrade ? one.label : one.mark };
  });
  return [...labels, { label: null, word: "cannot tell", key, mark: "?", tone: "unknown" }];
}

/** The choices, in an item's own words if it has them: { label: word }. These have no explanations. */
export function worded(all, words) {
  return all.map((one) => (words && Object.hasOwn(words, one.label) ? { ...one, word: words[one.label], meaning: "" } : one));
}

/** What a choice looks like; its glyph says nothing that its word does not. */
export function drawn({ mark, tone, word }) {
  return [el("i", { class: `tone ${tone}`, "aria-hidden": "true" }, mark), el("span", {}, word)];
}

/** Radios for these choices. Arrows move the focus and choose nothing: a choice is saved at once.
 *
 * chosen: what has the dot; undefined: none has. onchoose(label): for a click, or Space.
 */
export function radios({ name, legend, all, chosen, onchoose }) {
  const inputs = all.map(({ label, word }) => el("input", {
    type: "radio", name, value: label ?? "", checked: label === chosen, "aria-label": word,
    onclick: () => onchoose(label),
  }));
  const labels = all.map((one, i) => el("label", { title: one.meaning || null }, inputs[i],
    one.key && !one.isGrade ? el("kbd", { "aria-hidden": "true" }, one.key) : null, drawn(one)));
  const root = el("fieldset", { class: "choices" }, el("legend", {}, legend), el("div", {}, labels));
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = inputs.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    inputs[(at + step + inputs.length) % inputs.length].focus();
  });
  const show = (label) => inputs.forEach((input, i) => (input.checked = all[i].label === label));
  return { root, inputs, show };
}
