// What the address chooses: a measure, runs, a topic; and what is shown where it names none that is there.

import { el } from "../web/el.js";
import { get, go, without } from "../web/state.js";

/** The measure that the address names, if a section has it, else the first that it has. */
export function measureOf(head, available) {
  const wanted = get("measure");
  return available.includes(wanted) ? wanted : head.measures.find((name) => available.includes(name));
}

/** The run or topic of the address, "" where it names none or one that is not there. */
export function nameOf(key, names) {
  const wanted = get(key);
  return names.includes(wanted) ? wanted : "";
}

/** Sentences about what the address names and a section cannot show; `why` gives that of known measures. */
export function unknown(head, available, why) {
  const sentences = [];
  const measure = get("measure");
  if (measure && !available.includes(measure))
    sentences.push(head.measures.includes(measure) ? why(measure) : `There is no measure ${measure} here.`);
  for (const [key, noun, names] of [
    ["run", "run", head.runs],
    ["other", "run", head.runs],
    ["topic", "topic", head.topics],
  ])
    if (get(key) && !names.includes(get(key))) sentences.push(`There is no ${noun} ${get(key)} here.`);
  return sentences.map((text) => el("p", { class: "nothing" }, text));
}

/** Whether the page has this section. */
export function has(head, section) {
  return head.sections.some((one) => one.id === section);
}

/** A choice among names, which goes to a section with another value of `key`. */
export function choice(of, key, label, names, current, none = "") {
  const options = names.map((name) => el("option", { value: name, selected: name === current }, name));
  if (none) options.unshift(el("option", { value: "", selected: !current }, none));
  // A table by another measure is another table: it has its own order.
  const onchange = (event) => go(of, { ...(key === "measure" ? without((name) => name.endsWith(".sort")) : {}), [key]: event.target.value });
  return el("label", {}, label, el("select", { name: key, onchange }, options));
}
