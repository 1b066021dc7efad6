// Which facts should a good answer state: they are edited first, and their importance given last.

import { count, el, say } from "../../../report/web/el.js";
import { holdKeys } from "../waitingkeys.js";
import { changed, firstText } from "./changes.js";
import { editor } from "./editor.js";
import { row } from "./facts.js";
import { firstOpen, paged } from "./paged.js";
import { passages } from "./passages.js";
import { screenKeys } from "./screenkeys.js";
import { draft } from "./typed.js";

const hold = screenKeys("bank", [
  ["j", "next fact", "next"], ["k", "previous fact", "previous"],
  ["ArrowDown", "next fact", "next"], ["ArrowUp", "previous fact", "previous"],
  ["e", "reword the fact", "edit"], ["a", "add a fact", "add"], ["d", "delete the fact", "remove"],
  ["s", "split the fact", "split"], ["x", "select the fact for a merge", "choose"],
  ["m", "merge the selected facts", "merge"],
  ["i", "switch between the facts and their importance", "turn"],
  ["v", "vital", "vital"], ["o", "okay", "okay"], ["0", "no importance", "unsaid"],
  ["u", "undo", "undo"], ["Backspace", "undo", "undo"], ["U", "redo", "redo"],
  ["/", "search the passages", "find"],
  [">", "next question", "later"], ["<", "previous question", "earlier"],
]);

/** See app.js. */
export const view = paged("bank", firstOpen, screen);

function screen(root, api, n, goTo) {
  const typed = draft(`bank:${n}`);
  let [bank, task, beside, at, step, open, isGone] = [null, null, null, 0, "facts", null, false];
  let wrong = "";
  let waiting = []; // changes that are not in `bank` yet
  let turn = 0; // of `again`: what comes late is not taken
  const flying = new Set(); // ids of events that the server has not answered
  const chosen = new Set();
  const frame = el("section", { id: "bank", class: "session", "aria-labelledby": "bank-title" },
    el("p", { class: "nothing" }, "Loading …"));
  root.replaceChildren(frame);

  function take(answer) {
    waiting = waiting.filter((one) => flying.has(one.id));
    bank = answer;
    beside ??= passages(bank.passages ?? []);
  }

  const facts = () => waiting.reduce(changed, bank.nuggets);
  const current = () => facts()[at];
  const isFree = () => bank && current() && !current().waiting && !open;

  async function send(what, message) {
    const event = { id: crypto.randomUUID(), ...what };
    if (what.do === "bank") waiting.push(event);
    flying.add(event.id);
    wrong = "";
    if (message) say(message);
    draw();
    try {
      const answer = await api.send(event);
      if (isGone) return;
      if (answer.seq === null) say(`there is nothing to ${what.do}`);
      else if (Number.isInteger(answer.n) && answer.n !== n) return goTo(answer.n); // undone at another question
    } catch (error) {
      wrong = `Not saved: ${error.message}`;
      waiting = waiting.filter((one) => one !== event);
    } finally {
      flying.delete(event.id);
    }
    if (!flying.size && !isGone) await again();
  }

  /** Undo, or do again; what comes back is the current fact then. */
  async function back(what, message) {
    const letGo = holdKeys();
    const before = new Map(facts().map((one) => [one.id, one]));
    const isSame = (one, was) => was?.text === one.text && was.importance === one.importance;
    try {
      await send({ do: what }, message);
      if (isGone) return;
      const changedAt = facts().findIndex((one) => !isSame(one, before.get(one.id)));
      if (changedAt >= 0) at = changedAt;
      draw();
    } finally {
      letGo();
    }
  }

  /** What the server has by now, with the same fact current as long as there is one. */
  async function again() {
    const mine = (turn += 1);
    let answer;
    try {
      answer = await api.get("bank", { n });
    } catch {
      return; // the page says that the server is gone; what waits stays as it is
    }
    if (isGone || mine !== turn) return;
    const before = current(); // by now, not when the server was asked: the person goes on
    take(answer);
    const now = facts();
    const same = now.findIndex((one) => one.id === before?.id);
    const alike = now.findIndex((one) => one.text === before?.text);
    at = same >= 0 ? same : alike >= 0 ? alike : Math.min(at, Math.max(0, now.length - 1));
    for (const id of [...chosen]) if (!now.some((one) => one.id === id)) chosen.delete(id);
    draw();
  }

  function change(op, sources, texts, message, importance) {
    const all = facts();
    if (op === "add") at = all.length;
    else if (op !== "importance") at = all.findIndex(({ id }) => id === sources[0]);
    send({ do: "bank", n, item: bank.item, op, sources, texts, ...(importance === undefined ? {} : { importance }) }, message);
  }

  function start(op, sources, text, label, { isLines = false, least = 1, message }) {
    const close = (isToDraw = true) => {
      typed.keep(null);
      open = null;
      if (isToDraw) draw();
    };
    open = { op, sources, ...editor({
      label, text, isLines, least,
      ontyped: (value) => typed.keep({ op, sources, text: value }),
      oncancel: close,
      onsave: (texts) => {
        close(false);
        chosen.clear();
        if (op === "edit" && texts[0] === text.trim()) draw();
        else change(op, sources, texts, message);
      },
    }) };
    draw();
  }

  const forms = {
    add: (text = "") => start("add", [], text, "A new fact", { message: "added" }),
    edit: (text, fact) => start("edit", [fact.id], text ?? fact.text, "Reword the fact", { message: "reworded" }),
    split: (text, fact) => start("split", [fact.id], text ?? fact.text, "Split the fact: one fact per line",
      { isLines: true, least: 2, message: "split" }),
    merge: (text, ...all) => start("merge", all.map(({ id }) => id), text ?? all.map((one) => one.text).join(" "),
      `Merge these ${all.length} facts into one`, { message: "merged" }),
  };

  function worth(importance) {
    if (step !== "worth" || !isFree()) return false;
    const { id } = current();
    const all = facts();
    const next = all.findIndex((one, i) => i > at && !one.importance);
    if (importance) at = next >= 0 ? next : Math.min(at + 1, all.length - 1);
    change("importance", [id], [], importance ?? "importance removed", importance);
  }

  const actions = {
    next: () => move(1), previous: () => move(-1),
    edit: () => (step === "facts" && isFree() ? forms.edit(undefined, current()) : false),
    add: () => (step === "facts" && bank && !open ? forms.add() : false),
    split: () => (step === "facts" && isFree() ? forms.split(undefined, current()) : false),
    remove: () => {
      if (step !== "facts" || !isFree()) return false;
      const { id } = current();
      chosen.delete(id);
      change("delete", [id], [], "deleted; u restores it");
    },
    choose: () => {
      if (step !== "facts" || !isFree()) return false;
      const { id } = current();
      if (!chosen.delete(id)) chosen.add(id);
      say(`${count(chosen.size, "fact")} chosen`);
      draw();
    },
    merge: () => {
      const all = bank ? facts().filter((one) => chosen.has(one.id) && !one.waiting) : [];
      if (step !== "facts" || open) return false;
      if (all.length < 2) return say("select two or more facts with x");
      forms.merge(undefined, ...all);
    },
    turn: () => {
      if (!bank || open) return false;
      step = step === "facts" ? "worth" : "facts";
      const first = facts().findIndex((one) => !one.importance);
      if (step === "worth" && first >= 0) at = first;
      say(step === "worth" ? "importance of the facts" : "the facts");
      draw();
    },
    vital: () => worth("vital"), okay: () => worth("okay"), unsaid: () => worth(null),
    undo: () => (bank && !open ? void back("undo", "undone") : false),
    redo: () => (bank && !open ? void back("redo", "redone") : false),
    find: () => beside?.find() ?? false,
    later: () => (task && n + 1 < task.n && !open ? goTo(n + 1) : false),
    earlier: () => (n > 0 && !open ? goTo(n - 1) : false),
  };

  function move(by) {
    if (!bank || open) return false;
    at = Math.max(0, Math.min(facts().length - 1, at + by));
    draw();
  }

  function draw() {
    const all = facts();
    const scrolled = frame.querySelector(".beside-facts")?.scrollTop ?? 0;
    const hadFocus = frame.contains(document.activeElement) || document.activeElement === document.body;
    const acts = step === "facts"
      ? [["e", "reword", "edit"], ["s", "split", "split"], ["d", "delete", "remove"], ["x", "choose", "choose"]]
      : [["v", "vital", "vital"], ["o", "okay", "okay"], ["0", "not rated", "unsaid"]];
    const pressed = (fact, name) => ({ choose: chosen.has(fact.id), vital: fact.importance === "vital",
      okay: fact.importance === "okay", unsaid: !fact.importance })[name];
    const items = all.map((fact, i) => {
      if (open && open.sources[0] === fact.id) return el("li", { class: "fact open" },
        open.sources.length > 1 ? all.filter((one) => open.sources.includes(one.id)).map((one) => el("p", { class: "t" }, one.text)) : null,
        open.node);
      return row(fact, {
        at: i, isCurrent: !open && i === at, isChosen: chosen.has(fact.id), isWaiting: fact.waiting, all, importance: step === "worth",
        acts: acts.map(([key, word, name]) => ({ key, word, does: actions[name], isPressed: pressed(fact, name) })),
        ongo: () => {
          if (open) return;
          at = i;
          draw();
        },
      });
    });
    if (open?.op === "add") items.push(el("li", { class: "fact open" }, open.node));
    frame.replaceChildren(...head(all), el("div", { class: "columns" },
      el("div", { class: "edited" }, el("h2", {}, step === "facts" ? "The facts" : "Importance of the facts"),
        items.length ? el("ol", { class: "list-of-facts" }, items)
          : el("p", { class: "nothing" }, "There are no facts. Press a to add a fact, or u to undo."),
        step === "facts" && !open ? el("p", { class: "acts under-list" },
          el("button", { type: "button", onclick: actions.add }, "add a fact ", el("kbd", { "aria-hidden": "true" }, "a")),
          el("button", { type: "button", onclick: actions.merge, disabled: chosen.size < 2 },
            chosen.size ? `merge the ${chosen.size} selected ` : "merge the selected ", el("kbd", { "aria-hidden": "true" }, "m"))) : null),
      el("div", { class: "beside-facts", tabindex: "0", role: "region", "aria-label": "Passages" },
        el("h2", {}, `Passages (${count((bank.passages ?? []).length)})`), beside.node)));
    frame.querySelector(".beside-facts").scrollTop = scrolled;
    beside.about(open ? firstText(all, open.sources) : all[at]?.text ?? "");
    if (open && !open.isFocused) {
      open.isFocused = true;
      open.focus();
    } else if (open) open.focus();
    else if (hadFocus) frame.querySelector(".fact[aria-current]")?.focus({ preventScroll: false });
  }

  function head(all) {
    const nRated = all.filter((one) => one.importance).length;
    const turn = (name, number, words) => el("button", { type: "button", class: "step", "aria-pressed": String(step === name),
      onclick: () => (step === name || open ? null : actions.turn()) }, el("b", {}, number), " ", words);
    const to = (by, words, key) => el("button", { type: "button", class: "quiet", disabled: by > 0 ? n + 1 >= (task?.n ?? 0) : n === 0,
      onclick: by > 0 ? actions.later : actions.earlier }, words, " ", el("kbd", { "aria-hidden": "true" }, key));
    return [
      el("p", { class: "over" }, task ? `Question ${count(n + 1)} of ${count(task.n)}` : "",
        to(-1, "previous", "<"), to(1, "next", ">")),
      el("h1", { id: "bank-title" }, bank.question),
      el("p", { class: "lead" }, step === "facts"
        ? "Make a list of the facts that a good answer should state: reword, split, merge, delete and add. You rate their importance afterwards."
        : "Vital: a good answer must state it. Okay: it makes an answer better. You do not see the ratings of a model."),
      el("div", { class: "controls" }, turn("facts", "1", "the facts"), turn("worth", "2", "their importance"),
        el("output", {}, step === "facts" ? count(all.length, "fact") : `${count(nRated)} of ${count(all.length)} rated`),
        el("button", { type: "button", class: "quiet", onclick: actions.undo }, "undo ", el("kbd", { "aria-hidden": "true" }, "u")),
        el("button", { type: "button", class: "quiet", onclick: actions.redo }, "redo ", el("kbd", { "aria-hidden": "true" }, "U"))),
      ...(wrong ? [el("p", { class: "warn", role: "alert" }, wrong)] : []),
    ];
  }

  const leave = hold(actions);
  let unsent = 0; // by an earlier page too, whose actions this one sends
  const unheard = api.onState((now) => {
    const isSent = unsent > 0 && now.unsent === 0;
    unsent = now.unsent;
    if (isSent && bank && !flying.size) again();
  });
  const letGo = holdKeys(); // the screen may be that of an undo
  Promise.all([api.get("bank", { n }), api.get("task")]).then(([answer, all]) => {
    if (isGone) return;
    take(answer);
    task = all;
    const kept = typed.read();
    const named = (kept?.sources ?? []).map((id) => bank.nuggets.find((one) => one.id === id));
    draw();
    if (kept && forms[kept.op] && named.every(Boolean)) forms[kept.op](kept.text, ...named);
  }).catch((error) => {
    if (!isGone) frame.replaceChildren(el("h1", { id: "bank-title" }, "The facts could not be loaded"),
      el("p", { class: "nothing" }, error.message));
  }).finally(letGo);
  return () => {
    isGone = true;
    leave();
    unheard();
  };
}
