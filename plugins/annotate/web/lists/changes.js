// A list of facts after a change, as it is shown until the server says what it made of it.

/** The facts after a change that is not kept yet; what is new waits, for only the server names it. */
export function changed(facts, { op, sources, texts, importance }) {
  if (op === "importance") return facts.map((one) => (sources.includes(one.id) ? { ...one, importance } : one));
  const gone = facts.filter((one) => sources.includes(one.id));
  const from = gone.flatMap((one) => one.from ?? []);
  const made = texts.map((text) => ({ id: null, text, importance: null, from, waiting: true }));
  if (!sources.length) return [...facts, ...made];
  return facts.flatMap((one) => [...(one.id === sources[0] ? made : []), ...(sources.includes(one.id) ? [] : [one])]);
}

/** The text of the first of some facts, "" if there are none. */
export function firstText(facts, ids) {
  return facts.find((one) => one.id === ids[0])?.text ?? "";
}
