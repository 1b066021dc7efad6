// Two questions about each key point, next to the words it comes from: is it supported, does it help?

import { count, el, say } from "../../../report/web/el.js";
import { activity } from "../activity.js";
import { holdKeys } from "../waitingkeys.js";
import { byKey, choices, withCannotTell } from "./buttons.js";
import { firstOpen, paged } from "./paged.js";
import { placeOf, reading } from "./reading.js";
import { presses, screenKeys } from "./screenkeys.js";
import { draft } from "./typed.js";

const QUESTIONS = {
  grounded: "Do the quoted words support this key point?",
  key_point: "Does this key point help to answer the question?",
};
const TASKS = Object.keys(QUESTIONS);

const hold = screenKeys("verify", [
  ...["1", "2", "0"].map((key) => [key, "answer the current question", "digit"]),
  ["y", "yes", "yes"], ["n", "no", "no"],
  ["ArrowDown", "the other question", "other"], ["ArrowUp", "the other question", "other"],
  ["j", "next key point", "later"], ["k", "previous key point", "earlier"],
  ["c", "give a reason (Esc leaves the field)", "why"], ["f", "flag the key point for review", "flag"],
  ["x", "remove the answer", "clear"], ["u", "undo", "undo"], ["Backspace", "undo", "undo"], ["U", "redo", "redo"],
]);

/** See app.js. */
export const view = paged("verify", firstOpen, screen);

function screen(root, api, n, goTo) {
  const typed = draft(`verify:${n}`);
  const spent = activity();
  let [point, task, all, at, isGone, isFlagged] = [null, null, [], 0, false, false];
  const labels = {};
  const frame = el("section", { id: "verify", class: "session", "aria-labelledby": "verify-title" },
    el("p", { class: "nothing" }, "Loading …"));
  root.replaceChildren(frame);
  const why = el("textarea", { id: "verify-why", autocomplete: "off", oninput: () => typed.keep(why.value) });
  why.rows = 2;
  why.addEventListener("keydown", (event) => {
    if (event.key === "Escape") questions().querySelector("button")?.focus();
  });
  const wrong = el("p", { class: "warn", role: "alert", hidden: true });
  const asked = el("div", { class: "asked" });
  const questions = () => asked.children[at] ?? asked;
  const target = (name) => point.places?.[name] ?? { n, item: point.item };

  async function send(what, undone) {
    const event = { id: crypto.randomUUID(), ...what };
    wrong.hidden = true;
    try {
      return await api.send(event);
    } catch (error) {
      wrong.replaceChildren(`Not saved: ${error.message}`);
      wrong.hidden = false;
      undone?.();
      return null;
    }
  }

  function answer(label) {
    if (!point) return false;
    const name = TASKS[at];
    const before = labels[name];
    const active = spent.ms() + (before?.active_ms ?? 0);
    spent.restart();
    labels[name] = { label, active_ms: active, rationale: why.value.trim() };
    say(`${QUESTIONS[name]} ${all.find((one) => one.label === label).word}`);
    typed.keep(null);
    const kept = send({ do: "label", ...target(name), label, spans: [], rationale: why.value.trim(), active_ms: active }, () => {
      if (before) labels[name] = before;
      else delete labels[name];
      at = TASKS.indexOf(name);
      if (!isGone) draw();
    });
    const open = TASKS.findIndex((one) => !labels[one]);
    if (open >= 0) {
      at = open;
      draw();
    } else if (name === TASKS[1] || !before) kept.then((reply) => (reply?.seq && !isGone ? onwards(reply.n) : null));
    else draw();
  }

  /** To the next position that is open, once the label given here is kept. */
  function onwards(next) {
    draw();
    if (next === null || next === undefined) {
      say("all key points are done");
      asked.append(el("p", { class: "done" }, "You have answered all questions. Press k to go back."));
    } else goTo(next);
  }

  const last = () => Math.max(...TASKS.map((name) => target(name).n));
  const first = () => Math.min(...TASKS.map((name) => target(name).n));

  async function turn(what) {
    const letGo = holdKeys();
    try {
      const reply = await send({ do: what });
      if (isGone || !reply) return;
      if (reply.seq === null) return say(`there is nothing to ${what}`);
      say(what === "undo" ? "undone" : "redone");
      const isHere = TASKS.some((name) => target(name).n === reply.n);
      if (!isHere && reply.n !== null && reply.n !== undefined) return goTo(reply.n);
      await load();
      if (!isGone) draw();
    } finally {
      letGo();
    }
  }

  const actions = {
    digit: (event) => {
      const label = byKey(all, event.key);
      return label === undefined ? false : answer(label);
    },
    yes: () => answer("yes"), no: () => answer("no"),
    other: () => {
      at = 1 - at;
      draw();
    },
    later: () => (task && last() + 1 < task.n ? goTo(last() + 1) : false),
    earlier: () => (point && first() > 0 ? goTo(first() - 1) : false),
    why: () => why.focus(),
    flag: () => {
      if (!point) return false;
      isFlagged = !isFlagged;
      say(isFlagged ? "flagged" : "not flagged");
      send({ do: "flag", ...target(TASKS[at]), on: isFlagged, why: why.value.trim() }, () => {
        isFlagged = !isFlagged;
        if (!isGone) draw();
      });
      draw();
    },
    clear: () => {
      const name = TASKS[at];
      const before = labels[name];
      if (!before) return false;
      delete labels[name];
      say("answer removed");
      send({ do: "clear", ...target(name) }, () => {
        labels[name] = before;
        if (!isGone) draw();
      });
      draw();
    },
    undo: () => void turn("undo"), redo: () => void turn("redo"),
  };

  function draw() {
    const hadFocus = asked.contains(document.activeElement) || document.activeElement === document.body;
    asked.replaceChildren(...TASKS.map((name, i) => {
      const group = choices({
        id: `verify-${name}`, legend: QUESTIONS[name], choices: all, chosen: labels[name]?.label,
        onchoose: (label) => {
          at = i;
          answer(label);
        },
      });
      if (i === at) group.setAttribute("aria-current", "true");
      return group;
    }));
    for (const one of frame.querySelectorAll(".flagged")) one.hidden = !isFlagged;
    if (hadFocus) {
      const question = questions();
      question.tabIndex = -1; // a ring around its first label would look like an answer
      (question.querySelector("[aria-pressed=true]") ?? question).focus({ preventScroll: true });
    }
  }

  function drawAll() {
    const group = [point.domain, point.category].filter(Boolean).join(", ");
    const spans = Array.isArray(point.spans) ? point.spans : (point.spans ?? "").split("\n").filter(Boolean);
    const button = (words, key, name) => el("button", { type: "button", class: "quiet", onclick: actions[name] },
      words, " ", el("kbd", { "aria-hidden": "true" }, key));
    frame.replaceChildren(
      el("p", { class: "over" }, task ? `Key point ${count(Math.floor(first() / TASKS.length) + 1)} of ${count(Math.ceil(task.n / TASKS.length))}` : "",
        group ? el("span", {}, group) : null, el("span", { class: "flagged", hidden: true }, "⚑ flagged")),
      el("h1", { id: "verify-title" }, point.question),
      el("div", { class: "columns" },
        el("div", {}, el("h2", {}, "Key point"), reading(point.text)),
        el("div", {}, el("h2", {}, "Words it comes from"), sources(spans, point))),
      asked, el("div", { class: "more" }, el("label", { for: "verify-why" }, "Reason (optional)"), why,
        el("p", { class: "acts" }, button("remove the answer", "x", "clear"), button("flag", "f", "flag"),
          button("undo", "u", "undo"), button("redo", "U", "redo"))), wrong);
    draw();
  }

  async function load() {
    [point, task] = await Promise.all([api.get("verify", { n }), api.get("task")]);
    for (const name of TASKS) {
      const stored = point.labels?.[name];
      if (stored) labels[name] = stored;
      else delete labels[name];
    }
    isFlagged = Boolean(point.flagged);
    all = withCannotTell(task);
    const named = TASKS.findIndex((name) => target(name).n === n && point.places);
    const open = TASKS.findIndex((name) => !labels[name]);
    at = open >= 0 ? open : Math.max(0, named);
  }

  const leave = hold({ ...actions, digit: (event) => (presses(event) && event.key === "Enter" ? false : actions.digit(event)) });
  const letGo = holdKeys(); // the screen may be that of an undo
  load().then(() => {
    if (isGone) return;
    why.value = typed.read() ?? Object.values(labels).map(({ rationale }) => rationale).find(Boolean) ?? "";
    drawAll();
  }).catch((error) => {
    if (!isGone) frame.replaceChildren(el("h1", { id: "verify-title" }, "The key point could not be loaded"),
      el("p", { class: "nothing" }, error.message));
  }).finally(letGo);
  return () => {
    isGone = true;
    leave();
    spent.stop();
  };
}

/** The documents, with the quoted words marked; what is not quoted from can be opened. */
function sources(spans, { documents = [], sources: named = "" }) {
  const parts = documents.map((one) => ({ one, marks: spans.map((span) => placeOf(span, one.text)).filter(Boolean) }));
  const isQuoted = (span) => parts.some(({ one }) => placeOf(span, one.text));
  const left = spans.filter((span) => !isQuoted(span));
  const lacking = named.split(" ").filter((name) => name && !documents.some(({ id }) => id === name));
  return [
    parts.map(({ one, marks }) => {
      const title = one.title || one.id;
      return marks.length ? el("div", { class: "document" }, el("h3", {}, title), reading(one.text, marks))
        : el("details", { class: "passage" }, el("summary", {}, title, el("small", {}, " no quoted words")), reading(one.text));
    }),
    left.map((span) => el("blockquote", { class: "t" }, span)),
    left.length && documents.length ? el("p", { class: "hint" }, "These words were quoted, but they are not in the documents.") : null,
    documents.length ? null : el("p", { class: "hint" }, named ? `From ${named}. The results do not include the documents.` : "The results do not include the documents."),
    documents.length && lacking.length ? el("p", { class: "hint" }, `It also comes from ${lacking.join(", ")}, which the results do not include.`) : null,
    spans.length ? null : el("p", { class: "nothing" }, "No words were quoted for this key point."),
  ].flat().filter(Boolean);
}
