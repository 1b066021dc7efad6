// What the page shows is in its address: `#topics?measure=V_strict&sort=-mean`. A link is a view.

let known = parsed();

function parsed() {
  const [section, query = ""] = location.hash.slice(1).split("?", 2);
  return { section: decoded(section), values: new Map(new URLSearchParams(query)) };
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
  return known.section;
}

/** A value of the address, or `otherwise`. */
export function get(key, otherwise = "") {
  return known.values.get(key) ?? otherwise;
}

/** The address of a view, as text when it is asked for: this one with some values changed; "" takes one away. */
export function link(to, changes = {}) {
  return { toString: () => address(to, changes) };
}

function address(to, changes) {
  const values = new Map(known.values);
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
  addEventListener("hashchange", () => {
    const before = known;
    known = parsed();
    const keys = new Set([...before.values.keys(), ...known.values.keys()]);
    const changed = new Set([...keys].filter((key) => before.values.get(key) !== known.values.get(key)));
    listener(changed, before.section !== known.section);
  });
}
