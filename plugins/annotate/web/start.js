// What is my task? The question, the guidelines, some items to try, and where to begin.

import { count, el } from "../../report/web/el.js";
import { keyTable } from "./help.js";

/** Draw the first screen. */
export async function view(root, api, route) {
  const { task } = api;
  const first = task.views[0];
  const isAdjudicator = first === "adjudicate";
  (await route.load(first)).view.bindKeys?.(task); // so that they stand in the table; other screens have theirs by now
  const facts = [
    ["You are", task.annotator],
    [isAdjudicator ? "Differences" : task.kind === "bank" ? "Topics" : "Items", count(task.n)],
    ["Done so far", count(api.progress?.done ?? 0)],
    ["The judge's label", isAdjudicator ? (task.against_judge ? "is one of the anonymous labels" : "is not shown")
      : task.condition === "post_edit" ? "is shown with each item" : "is not shown"],
  ];
  const begin = el("button", { type: "button", class: "begin", onclick: async () => {
    const { n } = await api.get("next");
    done.hidden = n !== null;
    if (n !== null) route.go(first, { n });
  } }, api.progress?.done ? "Continue" : "Begin");
  const done = el("p", { hidden: true, role: "status" }, isAdjudicator
    ? "There is nothing to decide yet. An item appears here when people give it different labels."
    : "You have labelled all items. Thank you! Your coordinator can see it.");
  root.replaceChildren(
    el("h1", {}, task.question),
    el("p", { class: "lead" }, isAdjudicator
      ? "You decide items that people labelled differently. You see their labels without names. Each verdict is saved immediately and cannot be changed."
      : "Each label is saved immediately. You can stop at any time and change your labels later. If you cannot decide, choose \"cannot tell\": that is an answer, too."),
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("p", {}, begin), done,
    el("section", { "aria-labelledby": "guidelines-title" }, el("h2", { id: "guidelines-title" }, "Guidelines"),
      el("div", { class: "guidelines" }, task.guidelines)),
    task.practice.length ? practice(task) : "",
    el("section", { "aria-labelledby": "keys-title" }, el("h2", { id: "keys-title" }, "Keyboard shortcuts"), keyTable(),
      el("p", { class: "lead" }, "Keys do nothing while you type. Press ? on any page to see them or to switch them off.")));
  return () => root.replaceChildren();
}

function practice({ practice: items, scale }) {
  return el("section", { "aria-labelledby": "practice-title" },
    el("h2", { id: "practice-title" }, "Practice"),
    el("p", { class: "lead" }, "These labels are not saved. Choose a label to see which label we would give, and why."),
    el("ol", { class: "practice" }, items.map((item) => tried(item, scale))));
}

function tried({ texts, label, why }, scale) {
  const verdict = el("p", { role: "status" });
  const word = (one) => (scale.length ? scale : [{ label: one, word: one }]).find((each) => each.label === one)?.word ?? "cannot tell";
  if (!scale.length) verdict.textContent = `We would say "${label}": ${why}`;
  const buttons = !scale.length ? [] : [...scale, { label: null, word: "cannot tell", mark: "?" }].map((each) =>
    el("button", { type: "button", onclick: () => {
      const agrees = each.label === label ? "So would we" : `We would say "${word(label)}"`;
      verdict.textContent = `${agrees}: ${why}`;
    } }, `${each.mark} ${each.word}`));
  const shown = Array.isArray(texts) ? texts : Object.entries(texts).map(([name, text]) => ({ name, text }));
  return el("li", {}, shown.map(({ name, text }) => [el("h3", {}, name), el("p", { class: "read" }, text)]),
    el("div", { class: "controls", role: "group", "aria-label": "Your label" }, buttons), verdict);
}
