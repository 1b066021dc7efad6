// What went wrong, shown where the person looks.

import { el } from "../../../report/web/el.js";

/** An error in words. */
export function trouble(error) {
  return el("p", { class: "warn", role: "alert" }, error?.message ?? String(error));
}

/** What the server did not take; it stays until the person has seen it. `back` leads to the item, null for none. */
export function refusal(error, back) {
  const seen = (act) => () => {
    box.remove();
    act?.();
  };
  const box = el("p", { class: "warn", role: "alert" }, `Not saved: ${error?.message ?? error} `,
    back ? el("button", { type: "button", onclick: seen(back) }, "back to it") : null, " ",
    el("button", { type: "button", onclick: seen() }, "seen"));
  return box;
}
