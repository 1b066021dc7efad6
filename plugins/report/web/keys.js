// The keys of the page, in one table. None with ctrl, alt or meta, none while text is typed.

import { get, go, section } from "./state.js";

const TYPED = "input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable]";
const bound = new Map();
let first = "";

/** Bind a key, or two one after the other as "g t"; a key that is bound already is an error.
 *
 * of: the section in which the key does that; "" anywhere. The action returns false for a key that it leaves alone.
 */
export function bind(key, what, action, of = "") {
  const name = of ? `${key}@${of}` : key;
  if (bound.has(name)) throw new Error(`the key ${name} is bound already`);
  bound.set(name, { what, action });
}

/** All keys with what they do, for the help. */
export function bindings() {
  return [...bound].map(([name, { what }]) => {
    const [key, of] = name.split(/(?<=.)@/);
    return [key, of ? `${what} (${of})` : what];
  });
}

/** Whether keys are on; people with speech input switch them off. */
export function areOn() {
  return get("keys") !== "off";
}

/** Switch all keys on or off; the address remembers it. */
export function turn(on) {
  go(section(), { keys: on ? "" : "off" });
}

function isTyping(target) {
  return target instanceof Element && target.closest(TYPED) !== null;
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target) || !areOn()) return;
  if (event.key === "Shift" || document.querySelector("dialog[open]")) return;
  const key = first ? `${first} ${event.key}` : event.key;
  const sectionId = (event.target instanceof Element && event.target.closest("section")?.id) || section();
  const binding = bound.get(`${key}@${sectionId}`) ?? bound.get(key);
  const isFirst = !first && [...bound.keys()].some((name) => name.startsWith(`${event.key} `));
  first = isFirst ? event.key : "";
  if (binding && binding.action(event) !== false) event.preventDefault();
});
