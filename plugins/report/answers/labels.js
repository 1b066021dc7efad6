// How labels are drawn everywhere: a glyph, a tone and a word each, so that none rests on colour.

const UNJUDGED = { glyph: "?", tone: "u", word: "not judged" };

/** By kind of matrix: how it is called, its rows, and each of its labels. */
export const KINDS = {
  nuggets: {
    title: "Nuggets", item: "nugget", hit: "state it", first: "those that the fewest runs state", labels: {
      support: { glyph: "✓", tone: "f", word: "stated" },
      partial_support: { glyph: "◐", tone: "p", word: "stated in part" },
      not_support: { glyph: "✗", tone: "n", word: "not stated" },
    },
  },
  keypoints: {
    title: "Key points", item: "key point", hit: "state it", first: "those that the fewest runs state", labels: {
      yes: { glyph: "✓", tone: "f", word: "stated" },
      neutral: { glyph: "✗", tone: "n", word: "not stated" },
      no: { glyph: "≠", tone: "x", word: "contradicted" },
    },
  },
  argue: {
    title: "Questions", item: "question", hit: "answer it with support", first: "those that the fewest runs answer with support", labels: {
      supported: { glyph: "✓", tone: "f", word: "said and supported" },
      uncited: { glyph: "–", tone: "p", word: "said but uncited" },
      unsupported: { glyph: "≠", tone: "x", word: "said, citation does not support" },
      not_said: { glyph: "✗", tone: "n", word: "not said" },
    },
  },
  rubric: {
    title: "Criteria", item: "criterion", hit: "meet it", first: "those that the fewest runs meet", labels: {
      met: { glyph: "✓", tone: "f", word: "met" },
      partly: { glyph: "◐", tone: "p", word: "met in part" },
      not_met: { glyph: "✗", tone: "n", word: "not met" },
    },
  },
  penalties: {
    title: "Penalties", item: "penalty", hit: "avoid it", first: "those that the fewest runs avoid", labels: {
      met: { glyph: "✗", tone: "x", word: "applies" },
      partly: { glyph: "◐", tone: "x", word: "applies in part" },
      not_met: { glyph: "✓", tone: "f", word: "does not apply" },
    },
  },
  claims: {
    title: "Claims", item: "claim", hit: "state a key point", labels: {
      yes: { glyph: "✓", tone: "f", word: "states a key point" },
      no: { glyph: "✗", tone: "n", word: "states none" },
    },
  },
  support: {
    title: "Citations", item: "sentence", hit: "fully supported", labels: {
      full: { glyph: "✓", tone: "f", word: "full support" },
      partial: { glyph: "◐", tone: "p", word: "partial support" },
      none: { glyph: "✗", tone: "n", word: "no support" },
      uncited: { glyph: "–", tone: "o", word: "no citation" },
      gap: { glyph: "", tone: "o", word: "makes no claim" },
    },
  },
  reports: { title: "Sub-questions in reports", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
  passages: { title: "Sub-questions in passages", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
};

function ratings() {
  const tones = ["n", "a1", "a2", "a3", "a4", "f"];
  return Object.fromEntries(tones.map((tone, rating) => [rating, { glyph: String(rating), tone, word: `rated ${rating} of 5` }]));
}

/** The kind of what a program judged; a criterion with a weight below 0 is a penalty. */
export function kindOf(program, weight) {
  if (program === "rubric" && weight < 0) return "penalties";
  return program === "coverage" ? "reports" : program;
}

/** How a label of a kind, or of a program, is drawn. */
export function look(kind, label) {
  if (label === null || label === undefined || label === "unjudged") return UNJUDGED;
  if (kind === "uncited") return KINDS.support.labels.uncited;
  const labels = KINDS[kindOf(kind)]?.labels ?? {};
  return (Object.hasOwn(labels, label) && labels[label]) || { glyph: "•", tone: "o", word: String(label).replaceAll("_", " ") };
}
