// How labels are drawn everywhere: a glyph, a tone and a word each, so that none rests on colour.

const UNJUDGED = { glyph: "?", tone: "u", word: "not judged" };

/** By kind of matrix: how it is called, its rows, and each of its labels. Programs declare theirs, see `declare`. */
export const KINDS = {
  claims: {
    title: "Claims", item: "claim", hit: "state a key point", labels: {
      yes: { glyph: "✓", tone: "f", word: "states a key point" },
      no: { glyph: "✗", tone: "n", word: "states none" },
    },
  },
  reports: { title: "Sub-questions in reports", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
  passages: { title: "Sub-questions in passages", item: "sub-question", hit: "answer it", first: "those that the fewest runs answer", labels: ratings() },
};

function ratings() {
  const tones = ["n", "a1", "a2", "a3", "a4", "f"];
  return Object.fromEntries(tones.map((tone, rating) => [rating, { glyph: String(rating), tone, word: `rated ${rating} of 5` }]));
}

/** Take over what programs declare of their kinds: { title, item, hit, first, labels: [glyph, tone, word] by label, penalties }. */
export function declare(kinds) {
  for (const [name, { labels, penalties, ...words }] of Object.entries(kinds)) {
    const looks = Object.entries(labels).map(([label, [glyph, tone, word]]) => [label, { glyph, tone, word }]);
    KINDS[name] = { ...words, labels: Object.fromEntries(looks) };
    if (penalties) declare({ [name + PENALTIES]: penalties });
  }
}

export const PENALTIES = " penalties"; // after the name of a program: its points with a weight below 0

/** The kind of what a program judged; a point with a weight below 0 is a penalty. */
export function kindOf(program, weight) {
  if (weight < 0) return program + PENALTIES;
  return program === "coverage" ? "reports" : program;
}

/** How a label of a kind, or of a program, is drawn. */
export function look(kind, label) {
  if (label === null || label === undefined || label === "unjudged") return UNJUDGED;
  if (kind === "uncited") return KINDS.support?.labels.uncited ?? UNJUDGED;
  const labels = KINDS[kindOf(kind)]?.labels ?? {};
  return (Object.hasOwn(labels, label) && labels[label]) || { glyph: "•", tone: "o", word: String(label).replaceAll("_", " ") };
}
