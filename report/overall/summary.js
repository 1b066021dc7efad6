// What was run, and can it be trusted.

import { el } from "../web/el.js";
import { link } from "../web/state.js";

export const keys = [];

/** See page.js. */
export function draw({ data, head }) {
  const has = (section) => head.sections.some(({ id }) => id === section);
  return [
    el("p", { class: "lead" }, data.lead),
    data.warnings.map(({ text, section, link: words }) =>
      el(
        "p",
        { class: "warn" },
        text,
        section && words && has(section) ? [" ", el("a", { href: link(section) }, `See ${words}.`)] : null,
      ),
    ),
    el(
      "dl",
      { class: "facts" },
      data.facts.map(({ name, value, note }) =>
        el("div", {}, el("dt", {}, name), el("dd", {}, value, note ? el("small", {}, note) : null)),
      ),
    ),
  ].flat();
}
