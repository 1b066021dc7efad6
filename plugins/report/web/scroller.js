// Wide content scrolls sideways within its box; where it fits, the box is none, and heads stay in sight on the page.

import { el } from "./el.js";

const fitting = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const box = target.closest(".scroll");
    box?.classList.toggle("fits", box.scrollWidth <= box.clientWidth + 1);
  }
});

/** A box around something wide; `props` are those of its element. */
export function scroller(label, props, child) {
  const box = el("div", { role: "region", "aria-label": label, tabindex: "0", ...props, class: `scroll ${props.class ?? ""}`.trim() }, child);
  fitting.observe(box);
  fitting.observe(child);
  return box;
}
