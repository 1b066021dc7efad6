// Who is right? Labels that differ, from anonymous sources; their names appear after the verdict.

import { count, el, say } from "../../../report/web/el.js";
import { activity } from "../activity.js";
import { worded } from "../label/labels.js";
import { byKey, choices, mark, withCannotTell } from "./buttons.js";
import { paged } from "./paged.js";
import { reading } from "./reading.js";
import { presses, screenKeys } from "./screenkeys.js";
import { draft } from "./typed.js";

const AGAINST_JUDGE = "One of the labels may be the judge's. Some items are here because the judge disagrees with most people. Items on which "
  + "they agree are not checked again, so verdicts can only move labels towards the judge's, and agreement with it looks higher than it is.";

const hold = screenKeys("adjudicate", [
  ..."123456789".split("").map((key) => [key, "choose the right label", "digit"]),
  ["0", "choose a label or \"cannot tell\"", "digit"], ["-", "choose \"cannot tell\"", "digit"],
  ["c", "give a reason (Esc leaves the field)", "why"], ["Enter", "give the verdict, then continue", "give"],
  ["j", "next dispute", "later"], ["k", "previous dispute", "earlier"],
]);

/** See app.js. */
export const view = paged("adjudicate", firstDispute, screen);

function screen(root, api, n, goTo) {
  const typed = draft(`adjudicate:${n}`);
  const spent = activity();
  let [dispute, task, all, chosen, names, state, isGone] = [null, null, [], undefined, null, "open", false];
  const frame = el("section", { id: "adjudicate", class: "session", "aria-labelledby": "adjudicate-title" },
    el("p", { class: "nothing" }, "Loading …"));
  root.replaceChildren(frame);
  const keep = () => typed.keep({ label: chosen, isChosen: chosen !== undefined, why: why.value });
  const why = el("textarea", { id: "adjudicate-why", autocomplete: "off", oninput: keep });
  why.rows = 3;
  why.addEventListener("keydown", (event) => {
    if (event.key === "Escape") frame.querySelector(".choice[aria-pressed=true], .choice")?.focus();
  });
  const [sources, below, wrong] = [el("div", {}), el("div", {}), el("p", { class: "warn", role: "alert", hidden: true })];

  function choose(label) {
    if (state !== "open" || !dispute) return false;
    chosen = label;
    say(`${wordOf(label)} chosen; Enter gives the verdict`);
    keep();
    draw();
  }

  async function give() {
    if (state === "given") return later();
    if (state !== "open" || !dispute) return false;
    if (chosen === undefined) return say("choose a label first");
    state = "sent";
    wrong.hidden = true;
    draw();
    try {
      await api.send({ id: crypto.randomUUID(), do: "adjudicate", n, item: dispute.item, label: chosen,
        rationale: why.value.trim(), active_ms: spent.ms() });
      typed.keep(null);
      await reveal();
    } catch (error) {
      if (isGone) return;
      wrong.replaceChildren(`The verdict was not saved: ${error.message}`);
      wrong.hidden = false;
      state = "open";
      draw();
    }
  }

  /** Who the sources are. The server shows it only to those whose verdict it has. */
  async function reveal() {
    const reply = await api.get("reveal", { n });
    if (isGone) return;
    names = new Map(reply.sources.map((one) => [one.letter, one]));
    state = "given";
    say(reply.sources.map((one) => `${one.letter} was ${who(one)}`).join(", "));
    draw();
    below.querySelector("button")?.focus();
  }

  const later = () => (Number.isInteger(dispute?.next) ? goTo(dispute.next) : finished());

  function finished() {
    if (!dispute) return;
    say("this was the last dispute");
    below.querySelector(".done")?.remove();
    if (state === "given") below.append(el("p", { class: "done" }, "This was the last dispute. More may appear as people label more items."));
  }

  const wordOf = (label) => all.find((one) => one.label === label)?.word ?? String(label);
  const actions = {
    digit: (event) => {
      const label = byKey(all, event.key);
      return label === undefined ? false : choose(label);
    },
    why: () => (state === "open" ? why.focus() : false),
    give: (event) => (presses(event) && !event.target.closest(".choice") ? false : void give()),
    later: () => void later(),
    earlier: () => (Number.isInteger(dispute?.previous) ? goTo(dispute.previous) : false),
  };

  function draw() {
    const label = document.activeElement?.closest?.(".choice")?.dataset.label;
    sources.replaceChildren(el("ol", { class: "sources" }, dispute.sources.map((one) => {
      const choice = all.find(({ label: other }) => other === one.label);
      const revealed = names?.get(one.letter);
      return el("li", { class: revealed?.is_judge ? "judge" : null }, el("b", { class: "letter" }, one.letter), el("div", {},
        el("p", { class: "source-label" }, choice ? mark(choice) : null, choice?.word ?? one.label,
          revealed ? el("span", { class: "who" }, who(revealed)) : null),
        one.rationale ? el("p", { class: "t small" }, one.rationale) : el("p", { class: "hint" }, "no reason given")));
    })));
    const isOpen = state === "open";
    const group = choices({ id: "adjudicate-label", legend: dispute.question ?? "Which label is right?", choices: all, chosen,
      onchoose: choose, disabled: !isOpen });
    why.disabled = !isOpen;
    below.replaceChildren(group, el("label", { for: "adjudicate-why" }, "Reason"), why,
      el("p", { class: "acts" }, state === "given"
        ? el("button", { type: "button", class: "main", onclick: later }, "Continue ", el("kbd", { "aria-hidden": "true" }, "Enter"))
        : el("button", { type: "button", class: "main", disabled: !isOpen || chosen === undefined, onclick: give },
          "Give the verdict ", el("kbd", { "aria-hidden": "true" }, "Enter"))),
      el("p", { class: "hint" }, {
        open: `After your verdict, you see who gave which label${task.against_judge ? ", and which label is the judge's" : ""}. You cannot change a verdict.`,
        sent: "The verdict is being saved. Then you see who gave which label.",
        given: "You decided without knowing who gave which label, so you can no longer change the verdict.",
      }[state]));
    if (label !== undefined && isOpen) below.querySelector(`.choice[aria-pressed=true]`)?.focus();
  }

  function drawAll() {
    frame.replaceChildren(
      el("p", { class: "over" }, `Dispute ${count(dispute.at + 1)} of ${count(dispute.total)}`),
      el("h1", { id: "adjudicate-title" }, "Who is right?"),
      ...(task.against_judge ? [el("p", { class: "hint" }, AGAINST_JUDGE)] : []),
      el("div", { class: "columns" },
        el("div", {}, dispute.texts.map((one) => [el("h2", {}, one.name), reading(one.text)])),
        el("div", {}, el("h2", {}, "Labels given"), sources)),
      el("div", { class: "asked" }, below), wrong);
    draw();
  }

  async function load() {
    if (n === null) return frame.replaceChildren(el("h1", { id: "adjudicate-title" }, "Nothing to decide"),
      el("p", { class: "nothing" }, "There are no items that people labelled differently and you did not label yourself. "
        + "An item appears when two or more people have labelled it and no label has a majority."));
    [dispute, task] = await Promise.all([api.get("dispute", { n }), api.get("task")]);
    if (isGone) return;
    all = worded(withCannotTell(task), dispute.words);
    const kept = dispute.verdict ?? null;
    const drafted = typed.read();
    if (kept) {
      [chosen, why.value, state] = [kept.label, kept.rationale ?? "", "sent"];
    } else if (drafted) {
      chosen = drafted.isChosen ? drafted.label ?? null : undefined;
      why.value = drafted.why ?? "";
    }
    drawAll();
    if (kept) await reveal();
  }

  const leave = hold(actions);
  load().catch((error) => {
    if (!isGone) frame.replaceChildren(el("h1", { id: "adjudicate-title" }, "The dispute could not be loaded"),
      el("p", { class: "nothing" }, error.message));
  });
  return () => {
    isGone = true;
    leave();
    spent.stop();
  };
}

/** The first dispute without a verdict, or the first; null: nothing is disputed. */
async function firstDispute(api) {
  return (await api.get("next")).n;
}

function who({ is_judge: isJudge, name }) {
  return isJudge ? "the judge" : name;
}
