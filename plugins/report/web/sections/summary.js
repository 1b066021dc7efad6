// Which run scores highest, and three verdicts on whether that can be trusted.

import { count, el } from "../el.js";
import { link } from "../state.js";

export const keys = [];

/** See page.js. */
export function draw({ data, head }) {
  const has = (section) => head.sections.some(({ id }) => id === section);
  return [
    el("p", { class: "leaders" }, data.group, " ", el("span", { class: "about" }, data.about)),
    el("div", { class: "boxes" }, data.boxes.map((one) => box(one, has))),
  ];
}

function box({ question, section, verdict, is_warning: isWarning, lines, notes, command }, has) {
  return el(
    "div",
    { class: "box" },
    el("h2", {}, has(section) ? el("a", { href: link(section) }, question) : question),
    el("p", { class: isWarning ? "verdict warned" : "verdict" }, verdict),
    lines.map(({ text, is_warning: warns }) => el("p", { class: warns ? "warned" : null }, text)),
    command ? el("pre", {}, el("code", {}, whole(command))) : null,
    notes.length ? folded(notes, has) : null,
  );
}

/** A command whose options are not broken at their hyphens. */
function whole(command) {
  return command.split(/(?<=\s)/).map((word) => (word.startsWith("-") ? [el("b", {}, word.trim()), /\s*$/.exec(word)[0]] : word));
}

function folded(notes, has) {
  const isWarning = notes.some((note) => note.is_warning);
  return el(
    "details",
    {},
    el("summary", { class: isWarning ? "warned" : null }, count(notes.length, "note")),
    notes.map((one) => line(one, has)),
  );
}

function line({ text, section, link: words, is_warning: isWarning }, has) {
  const more = section && words && has(section) ? [" ", el("a", { href: link(section) }, `See ${words}.`)] : null;
  return el("p", { class: isWarning ? "warned" : null }, text, more);
}
