// The last ten things that a person did; each leads back to its position.

import { el } from "../../../report/web/el.js";
import { drawn } from "./labels.js";

const MAX_ACTIONS = 10;
const OTHERS = {
  flag: { mark: "⚑", word: "flagged" }, unflag: { mark: "⚐", word: "flag removed" },
  skip: { mark: "→", word: "left for later" }, clear: { mark: "∅", word: "label removed" },
};

/** The strip; `all` are the choices, onopen(n) goes to a position. */
export function strip(api, all, onopen) {
  let actions = [];
  const list = el("ol");
  const root = el("nav", { class: "last", "aria-label": "Your last actions" }, el("span", { class: "soft" }, "recent"), list);

  function draw() {
    root.hidden = !actions.length;
    list.replaceChildren(...actions.map(({ n, what, label }) => {
      const choice = what === "label" ? all.find((one) => one.label === label) : OTHERS[what];
      const { mark = "•", tone = "other", word = what } = choice ?? {};
      const name = `item ${n + 1}: ${word}`;
      return el("li", {}, el("button", { type: "button", title: name, "aria-label": name, onclick: () => onopen(n) },
        drawn({ mark, tone, word: "" })[0]));
    }));
  }

  draw();
  return {
    root,
    /** What was just done, before the server has confirmed it. */
    did(action) {
      actions = [action, ...actions].slice(0, MAX_ACTIONS);
      draw();
    },
    /** Ask the server what was done. */
    async ask() {
      actions = (await api.get("recent").catch(() => actions)).slice(0, MAX_ACTIONS);
      draw();
    },
  };
}
