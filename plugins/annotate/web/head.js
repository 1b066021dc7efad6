// The head of the page: what is labelled, how, by whom, and the ways to the screens.

import { el } from "../../report/web/el.js";

const CONDITIONS = { from_scratch: "from scratch", post_edit: "with the judge's label" };

/** Draw the head; returns { at(name) }, which marks where one is, and { add(button) }. */
export function head(api, screens) {
  const { title, condition, annotator, is_coordinator: isCoordinator } = api.task;
  const links = screens.map(({ name, title }) => [name, el("a", { href: `#${name}` }, title)]);
  document.querySelector("header").replaceChildren(
    el("b", {}, title),
    isCoordinator ? "" : el("span", {}, CONDITIONS[condition] ?? condition),
    el("nav", { "aria-label": "Screens" }, links.map(([, each]) => each)),
    el("span", { class: "who" }, isCoordinator ? "coordinator" : annotator));
  return {
    add(button) {
      document.querySelector("header .who").before(button);
    },
    at(current) {
      for (const [name, each] of links)
        if (name === current) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
    },
  };
}
