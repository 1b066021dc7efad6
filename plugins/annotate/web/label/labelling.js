// What the screens on which people label share: time, how far they are, what the judge says, keys, and the end of it.

import { el, say } from "../../../report/web/el.js";
import { bind } from "../../../report/web/state.js";
import { activity } from "../activity.js";
import { far } from "./far.js";
import { choices, drawn } from "./labels.js";
import { bindMarking } from "./marking.js";

/** The part of a screen that lasts until it is taken down.
 *
 * all: the choices. active: time at what is shown. how: how far the person is. needs: says that words have to be marked.
 */
export function labelling(api) {
  const { task } = api;
  const all = choices(task);
  const active = activity();
  const how = far(api, active.ms);
  const needs = el("p", { class: "warn", role: "alert", hidden: true });
  let turn = 0;
  const word = (label) => all.find((one) => one.label === label)?.word ?? label;

  return {
    all, active, how, needs, word,

    /** Whether what was asked for is still wanted when it comes: a function. `isNew`: what was asked before no longer is. */
    turn(isNew = true) {
      if (isNew) turn += 1;
      const mine = turn;
      return () => mine === turn;
    },

    /** Whether a label needs words that are not marked; says so, and begins to mark. */
    lacks(label, marks) {
      const isLacking = (task.needs_spans ?? []).includes(label) && !marks.spans().length;
      needs.hidden = !isLacking;
      if (!isLacking) return false;
      needs.textContent = `Before you choose "${word(label)}", mark the words that support it.`;
      if (!marks.isOn()) marks.turn(true);
      return true;
    },

    /** The judge's label as a text beside; nothing is chosen for the person. */
    judged({ shown }, keep, key = null) {
      if (task.condition !== "post_edit" || shown === null || shown === undefined) return null;
      const one = all.find(({ label }) => label === shown) ?? { mark: "•", tone: "other", word: shown };
      return el("p", { class: "judged" }, "The judge says ", el("b", {}, drawn(one)),
        el("button", { type: "button", onclick: keep }, key ? [el("kbd", { "aria-hidden": "true" }, key), " "] : null, "keep it"));
    },

    /** Give a label that the judge gave; false where none is shown. */
    kept(item, label) {
      const shown = task.condition === "post_edit" ? item?.shown : null;
      return shown === null || shown === undefined ? false : void label(shown);
    },

    stop(marks) {
      turn += 1;
      active.stop();
      how.stop();
      marks?.stop();
    },
  };
}

/** Bind the keys of a screen of this name; `words` says what j and k do there, `arrow(page, step)` what arrows do.
 *
 * Returns `once(act)` for keys of the screen's own: a key that is held down counts once.
 */
export function bindLabelling(of, task, shown, words, arrow = () => false) {
  const there = () => (shown()?.isThere() ? shown() : null);
  const any = (act) => () => (there() ? act(there()) : false);
  const once = (act) => (event) => (there() && !event.repeat ? act(there()) : false);
  for (const { key, word, label } of choices(task)) if (key) bind(key, word, once((page) => page.label(label)), of);
  for (const key of ["u", "Backspace"]) bind(key, "undo", once((page) => void page.undo()), of);
  bind("U", "redo (Shift and u)", once((page) => void page.undo("redo")), of);
  bind("j", words.j, any((page) => void page.move(1)), of);
  bind("k", words.k, any((page) => void page.move(-1)), of);
  bind("c", "give a reason", once((page) => page.reason()), of);
  bind("f", "flag, or remove the flag", once((page) => page.flag()), of);
  bind("x", "remove the label", once((page) => page.clear()), of);
  bind("s", words.s, once((page) => page.spans()), of);
  bindMarking(of, {
    marks: () => there()?.marks(),
    entered: once((page) => page.keeps()),
    moved: (step) => any((page) => arrow(page, step))(),
  });
  return { any, once };
}
