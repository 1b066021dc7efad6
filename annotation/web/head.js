// The head of the page: what is labelled, how, and how far one is.

import { count, el } from "../../report/web/el.js";
import { link } from "../../report/web/state.js";

const TITLES = {
  nuggets: "Nuggets", support: "Support", ratings: "Ratings", keypoints: "Key points", relevance: "Relevance",
  items: "Items", bank: "Nuggets to edit", verify: "Key points to verify",
};
const CONDITIONS = { from_scratch: "from scratch", post_edit: "with the judge's label" };
const HIDDEN = "judge hides time";

/** Draw the head; returns { at(name) }, which marks where one is. */
export function head(api, screens) {
  const { kind, condition, annotator, is_coordinator: isCoordinator } = api.task;
  const bar = el("progress", { max: 1, value: 0, "aria-label": "labelled" });
  const far = el("span", { class: "far" });
  const time = el("span", { class: "time" });
  const button = el("button", { type: "button", class: "quiet" });
  const isHidden = () => localStorage.getItem(HIDDEN) === "yes";
  const showTime = () => {
    time.hidden = isHidden();
    button.textContent = isHidden() ? "show time" : "hide time";
  };
  button.addEventListener("click", () => {
    localStorage.setItem(HIDDEN, isHidden() ? "no" : "yes");
    showTime();
  });
  showTime();
  const links = screens.map(({ name, title }) => [name, el("a", { href: link(name) }, title)]);
  const who = isCoordinator ? "coordinator" : annotator;
  document.querySelector("header").replaceChildren(
    el("b", {}, TITLES[kind] ?? kind),
    el("span", {}, isCoordinator ? "" : CONDITIONS[condition] ?? condition),
    el("span", { class: "who" }, who),
    el("nav", { "aria-label": "Screens" }, links.map(([, each]) => each)),
    ...(isCoordinator ? [] : [bar, far, time, button]));
  api.onState(({ progress }) => {
    if (!progress) return;
    const { done, total, active_ms: ms } = progress;
    bar.max = Math.max(total, 1);
    bar.value = done;
    far.textContent = `${count(done)} of ${count(total)}`;
    time.textContent = spoken(ms);
  });
  return {
    at(current) {
      for (const [name, each] of links)
        if (name === current) each.setAttribute("aria-current", "page");
        else each.removeAttribute("aria-current");
    },
  };
}

function spoken(ms) {
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
