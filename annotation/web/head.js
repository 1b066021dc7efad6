// The head of the page: what is labelled, how, by whom, and the ways to the screens.

import { el } from "../../report/web/el.js";

const TITLES = {
  nuggets: "Nuggets", support: "Support", ratings: "Ratings", keypoints: "Key points", rubric: "Criteria", relevance: "Relevance",
  items: "Items", bank: "Nuggets to edit", verify: "Key points to verify",
};
const CONDITIONS = { from_scratch: "from scratch", post_edit: "with the judge's label" };

/** Draw the head; returns { at(name) }, which marks where one is. */
export function head(api, screens) {
  const { kind, condition, annotator, is_coordinator: isCoordinator } = api.task;
  const links = screens.map(({ name, title }) => [name, el("a", { href: `#${name}` }, title)]);
  document.querySelector("header").replaceChildren(
    el("b", {}, TITLES[kind] ?? kind),
    isCoordinator ? "" : el("span", {}, CONDITIONS[condition] ?? condition),
    el("nav", { "aria-label": "Screens" }, links.map(([, each]) => each)),
    el("span", { class: "who" }, isCoordinator ? "coordinator" : annotator));
  return {
    at(current) {
      for (const [name, each] of links)
        if (name === current) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
    },
  };
}
