// What the page shows is in its address: `#topics?measure=V_strict&sort=-mean`. A link is a view.

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
