// What is wrong between the page and the server, and that nothing is lost by it.

import { count, el } from "../../report/web/el.js";

/** Show a banner while something is unsent and cannot be sent, or was refused. */
export function banner(api) {
  const root = document.querySelector(".banner");
  let before = "";
  const seen = new Set(); // refusals that were read
  const show = ({ unsent, trouble, refused }) => {
    const open = refused.filter((one) => !seen.has(one));
    const now = JSON.stringify([trouble, unsent, open.length]);
    if (now === before) return;
    before = now;
    root.hidden = !trouble && !open.length;
    root.replaceChildren();
    if (trouble)
      root.append(el("p", {}, el("b", {}, trouble),
        unsent ? ` ${count(unsent, "deed waits", "deeds wait")} here and will be sent; none is lost. ` : " Nothing waits to be sent. ",
        el("button", { type: "button", onclick: () => api.retry() }, "Try now")));
    if (open.length) {
      const read = () => {
        for (const one of open) seen.add(one);
        show({ unsent, trouble, refused });
      };
      root.append(el("p", {}, el("b", {}, `${count(open.length, "deed was", "deeds were")} not taken: `), open.at(-1).why, " ",
        el("button", { type: "button", onclick: read }, "I have read this")));
    }
  };
  api.onState(show);
}
