// What the page shows is in its address: `#topics?measure=V_strict&sort=-mean`. A link is a view. And its keys.

let known = parsed(location.hash);

function parsed(hash) {
  const [section, query = ""] = hash.slice(1).split("?", 2);
  return { hash, section: decoded(section), values: new Map(new URLSearchParams(query)) };
}

/** What the address says now; its event comes later, and until then a second change must not undo the first. */
function current() {
  if (location.hash !== known.hash) known = parsed(location.hash);
  return known;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The section that the address names, "" for none. */
export function section() {
  return current().section;
}

/** A value of the address, or `otherwise`. */
export function get(key, otherwise = "") {
  return current().values.get(key) ?? otherwise;
}

/** Changes that take away the values whose keys are like this. */
export function without(isLike) {
  return Object.fromEntries([...current().values.keys()].filter(isLike).map((key) => [key, ""]));
}

/** The address of a view, as text when it is asked for: this one with some values changed; "" takes one away. */
export function link(to, changes = {}) {
  return { toString: () => address(to, changes) };
}

function address(to, changes) {
  const values = new Map(current().values);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) values.delete(key);
    else values.set(key, String(value));
  }
  const query = new URLSearchParams([...values]).toString();
  return `#${encodeURIComponent(to)}${query ? `?${query}` : ""}`;
}

/** Go to a view; `quietly` leaves no step to go back to, as while a filter is typed. */
export function go(to, changes = {}, quietly = false) {
  if (quietly) location.replace(address(to, changes));
  else location.hash = address(to, changes);
}

/** Call `listener(changed keys, whether the section is named anew)` when the address changes. */
export function listen(listener) {
  let shown = current();
  addEventListener("hashchange", () => {
    const before = shown;
    shown = current();
    const keys = new Set([...before.values.keys(), ...shown.values.keys()]);
    const changed = new Set([...keys].filter((key) => before.values.get(key) !== shown.values.get(key)));
    listener(changed, before.section !== shown.section);
  });
}

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
