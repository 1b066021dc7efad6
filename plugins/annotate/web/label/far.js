// How far a person is, and how long they were at it; hidden on request.

import { count, el } from "../../../report/web/el.js";
import { spoken } from "../activity.js";

const HIDDEN = "judge hides progress";

/** The line of progress; ms() is the time at the item that is shown, which no label holds yet. */
export function far(api, ms) {
  let progress = { done: 0, total: 0, active_ms: 0 };
  const bar = el("progress", { max: 1, value: 0, "aria-label": "labelled" });
  const words = el("span");
  const time = el("span", { class: "time" });
  const shown = el("div", { id: "far" }, bar, words, time);
  const button = el("button", { type: "button", class: "quiet", "aria-controls": "far", onclick: () => turn(!shown.hidden) });
  const tick = () => (time.textContent = spoken(progress.active_ms + ms()));

  function turn(isHidden) {
    shown.hidden = isHidden;
    button.textContent = isHidden ? "show progress" : "hide";
    button.setAttribute("aria-label", isHidden ? "show progress" : "hide progress");
    button.setAttribute("aria-expanded", String(!isHidden));
    try {
      localStorage.setItem(HIDDEN, isHidden ? "yes" : "");
    } catch {
      // it is hidden until the page is loaded again
    }
  }

  const leave = api.onState(({ progress: latest }) => {
    if (!latest) return;
    progress = latest;
    bar.max = Math.max(progress.total, 1);
    bar.value = progress.done;
    words.textContent = `${count(progress.done)} of ${count(progress.total)}`;
    tick();
  });
  const timer = setInterval(tick, 1000);
  turn(wasHidden());
  return {
    root: el("div", { class: "far" }, shown, button),
    stop() {
      leave();
      clearInterval(timer);
    },
  };
}

function wasHidden() {
  try {
    return localStorage.getItem(HIDDEN) === "yes";
  } catch {
    return false;
  }
}
