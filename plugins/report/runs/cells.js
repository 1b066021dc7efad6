// Scores by run and topic, as cells.py packs them.

import { bytesOf } from "../web/inflate.js";

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
  return { [UNANSWERED]: "not answered", [UNJUDGED]: "not judged", [UNDEFINED]: "means nothing here" }[why] ?? "";
}

/** Mean and standard deviation of numbers, null of none. */
export function spread(numbers) {
  const known = numbers.filter((one) => one !== null);
  if (!known.length) return { mean: null, sd: null };
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  const sd = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length);
  return { mean, sd };
}
