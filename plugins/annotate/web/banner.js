// Errors of the server, of a refused event, or of a button, and whether anything is lost.

import { count, el } from "../../report/web/el.js";

/** Show a banner while something is unsent and cannot be sent, was refused, or a button or key did not work. */
export function banner(api) {
  const root = document.querySelector(".banner");
  let [before, now, failed] = ["", {}, ""];
  const seen = new Set(); // refusals that were read
  const button = (words, onclick) => el("button", { type: "button", onclick }, words);
  const draw = () => {
    const { unsent, trouble, refused = [] } = now;
    const open = refused.filter((one) => !seen.has(one));
    const shown = JSON.stringify([trouble, unsent, open.length, failed]);
    if (shown === before) return;
    before = shown;
    root.hidden = !trouble && !open.length && !failed;
    root.replaceChildren();
    if (trouble)
      root.append(el("p", {}, el("b", {}, trouble),
        unsent ? ` This browser keeps ${count(unsent, "unsent change")} and will send ${unsent === 1 ? "it" : "them"}; nothing is lost. ` : " There are no unsent changes. ",
        button("Try now", () => api.retry())));
    if (open.length)
      root.append(el("p", {}, el("b", {}, `${count(open.length, "change was", "changes were")} not saved: `), open.at(-1).why, " ",
        button("OK", () => {
          for (const one of open) seen.add(one);
          draw();
        })));
    if (failed)
      root.append(el("p", {}, el("b", {}, "That did not work: "), failed, " ", button("OK", () => fail(""))));
  };
  const fail = (why) => {
    failed = why;
    draw();
  };
  api.onState((state) => {
    now = state;
    draw();
  });
  // Whatever a button or key starts and does not handle itself.
  addEventListener("unhandledrejection", ({ reason }) => fail(reason?.message || String(reason)));
  addEventListener("error", ({ message }) => fail(message));
}
