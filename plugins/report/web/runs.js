// Scores by run and topic, as packing.py packs them, and what the address chooses of measures, runs and topics.

import { bytesOf } from "./data.js";
import { el } from "./el.js";
import { get, go, without } from "./state.js";

export const UNANSWERED = 1;
export const UNJUDGED = 2;
export const UNDEFINED = 3;

const opened = new Map();

/** The cells of a measure: `value(run, topic)` by their indices, null where there is none, and `why(run, topic)`. */
export function cellsOf(head, measure) {
  if (!opened.has(measure)) opened.set(measure, open(head, measure));
  return opened.get(measure);
}

function open(head, measure) {
  const { values, bytes, cells, is_of_answered: isOfAnswered } = head.cells[measure];
  const raw = bytesOf(cells);
  const numbers = bytes === 1 ? raw : new Uint16Array(raw.buffer);
  const top = 256 ** bytes;
  const width = head.topics.length;
  const at = (run, topic) => numbers[run * width + topic];
  const value = (run, topic) => values[at(run, topic)] ?? null;
  const why = (run, topic) => (at(run, topic) < values.length ? 0 : top - at(run, topic));
  const isThere = (run) => head.topics.some((_, topic) => why(run, topic) !== UNDEFINED);
  const means = (topic) => head.runs.some((_, run) => why(run, topic) !== UNDEFINED);
  const indices = (names, test) => names.map((_, index) => index).filter(test);
  return { value, why, values, isOfAnswered, runs: indices(head.runs, isThere), topics: indices(head.topics, means) };
}

/** What a cell counts in a mean: its value, 0 where the run did not answer, null where it is left out. */
export function counted(cells, run, topic) {
  return cells.why(run, topic) === UNANSWERED && !cells.isOfAnswered ? 0 : cells.value(run, topic);
}

/** Why there is no value, in words. */
export function reasonText(why) {
  return { [UNANSWERED]: "not answered", [UNJUDGED]: "not judged", [UNDEFINED]: "not defined" }[why] ?? "";
}

/** Mean and standard deviation of numbers, null of none. */
export function spread(numbers) {
  const known = numbers.filter((one) => one !== null);
  if (!known.length) return { mean: null, sd: null };
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  const sd = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length);
  return { mean, sd };
}

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
