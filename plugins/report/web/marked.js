// Text with some of its parts marked. Offsets are code points, as Python counts them.

import { el, shown } from "./el.js";

/** Nodes of a text; marks are { start, end, ...attributes }, and may lie over each other. */
export function marked(text, marks) {
  const points = [...text];
  const cut = (start, end) => points.slice(start, end).join("");
  const ends = new Set([0, points.length]);
  for (const { start, end } of marks) ends.add(Math.min(start, points.length)).add(Math.min(end, points.length));
  const borders = [...ends].sort((a, b) => a - b);
  return borders.slice(1).map((end, i) => {
    const start = borders[i];
    const over = marks.filter((mark) => mark.start <= start && end <= mark.end);
    if (!over.length) return shown(cut(start, end));
    const titles = [...new Set(over.map(({ title }) => title).filter(Boolean))];
    const classes = [...new Set(over.map((mark) => mark.class).filter(Boolean))];
    return el("mark", { class: classes.join(" ") || null, title: titles.join("\n") || null }, cut(start, end));
  });
}

/** Marks of the words of a text, four letters or longer, that another text has too. */
export function sharedWords(text, other) {
  const words = /[\p{L}\p{N}]{4,}/gu;
  const known = new Set((other.match(words) ?? []).map((word) => word.toLowerCase()));
  let point = 0;
  let unit = 0;
  return [...text.matchAll(words)].filter(([word]) => known.has(word.toLowerCase())).map((match) => {
    point += [...text.slice(unit, match.index)].length;
    unit = match.index;
    return { start: point, end: point + [...match[0]].length, class: "words", title: "shared words, not the judge's reason" };
  });
}
