// The end of a queue: what was done, and what the person may want to look at again.

import { count, el } from "../../../report/web/el.js";
import { spoken } from "../activity.js";

const MAX_LISTED = 200; // positions listed

/** Counts and links to the flagged, the undecided and the open items; `words` says why this is the end, `open(n)` goes there. */
export async function ending(api, words, open) {
  const { items, progress } = await api.get("review");
  const n = (name) => items.filter((one) => one[name]).length;
  const facts = [["labelled", count(progress.done)], ["flagged", count(n("is_flagged"))],
    ["cannot tell", count(n("cannot_tell"))], ["without a label", count(n("is_open"))], ["active time", spoken(progress.active_ms)]];
  const why = (one) => [one.is_flagged ? `flagged${one.why ? `: ${one.why}` : ""}` : "", one.cannot_tell ? "cannot tell" : "",
    one.is_open ? "no label yet" : ""].filter(Boolean).join("; ");
  return el("div", { class: "done", role: "status" }, el("p", {}, words),
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    items.length ? [el("h2", {}, "To review"), el("ul", { class: "review" }, items.slice(0, MAX_LISTED).map((one) => el("li", {},
      el("button", { type: "button", class: "quiet", onclick: () => open(one.n) }, `item ${count(one.n + 1)}`), ` ${why(one)}`)))] : null,
    items.length > MAX_LISTED ? el("p", { class: "soft" }, `and ${count(items.length - MAX_LISTED)} more`) : null);
}
