// One item at a time: read, one key, saved, and the next one is there.

import { el, say } from "../../../report/web/el.js";
import { bind } from "../../../report/web/state.js";
import { holdKeys } from "../waitingkeys.js";
import { makeEvents } from "./events.js";
import { keep, kept } from "./drafts.js";
import { ending } from "./ending.js";
import { bindLabelling, labelling } from "./labelling.js";
import { radios, worded } from "./labels.js";
import { mounted } from "./mounted.js";
import { refusal, trouble } from "./notices.js";
import { queue } from "./queue.js";
import { spanMarks } from "./spans.js";
import { strip } from "./strip.js";
import { blocks, questionIn } from "./texts.js";
import { noteField } from "./why.js";

const NOTHING_OPEN = "You have labelled or skipped every item. You can still go back and change a label.";
const PATIENCE_MS = 1_000; // then keys are for what is shown, though the server has not answered
const NOTHING = { rationale: "", spans: [] };

/** Draw the screen into `root`; returns what takes it down. */
export const view = mounted("item", screen, bindKeys);

function screen(root, api, route) {
  const { task } = api;
  const work = labelling(api);
  const { active, all } = work;
  const at = queue(api);
  let item = null;
  let marks = null;
  let chosen = null; // the radios
  let isLeaving = false; // an item is left for one that is not there yet

  const last = strip(api, all, (n) => show(n));
  const notice = el("div", { class: "notice" });
  const reading = el("div", { class: "reading" });
  const asking = el("div", { class: "asking" });
  const flagNote = noteField({
    label: "What is wrong with this item? (optional)",
    onleft: (text) => item && events.flag(item, true, (item.why = text)),
  });
  const why = noteField({
    label: "Why this label?",
    ontyped: () => item && keep(item, draft()),
    onleft: () => again("reason saved"),
  });
  const actions = el("div", { class: "more" }, [
    ["u", "undo", undo], ["s", "mark words", spans], ["c", "give a reason", reason], ["f", "flag", flag], ["n", "note on the flag", note],
    ["l", "later", skip], ["x", "remove label", clear],
  ].map(([key, word, act]) => el("button", { type: "button", "data-key": key, onclick: () => act() },
    el("kbd", { "aria-hidden": "true" }, key), ` ${word}`)));
  const links = (n) => task.views?.includes("answer")
    ? el("a", { href: `#answer?n=${n}` }, "all items of this answer") : null;

  const events = makeEvents(api, (error, n) => {
    at.forget();
    notice.append(refusal(error, n === undefined ? null : () => show(n)));
  });
  const draft = () => ({ rationale: why.text(), spans: marks?.spans() ?? [] });

  /** Show a position; false where it is none. waits: for a server that is gone. */
  async function show(n, waits = false) {
    const isWanted = work.turn();
    const letGo = holdKeys(PATIENCE_MS);
    let next;
    try {
      next = await at.at(n, waits);
    } catch (error) {
      if (!item) throw error;
      if (isWanted()) notice.append(trouble(error));
      return true;
    } finally {
      queueMicrotask(letGo); // when it is shown
    }
    if (!isWanted()) return true;
    if (!next) return false;
    draw(next);
    return true;
  }

  function draw(next) {
    const focus = root.contains(document.activeElement) ? focused() : null;
    const isMarking = marks?.isOn() && item === next;
    item = next;
    isLeaving = false;
    const before = kept(item) ?? item.label;
    route.go("item", { n: item.n }, true);
    marks?.stop();
    const text = blocks(item.texts);
    const heading = el("h1", {}, questionIn(item.texts) || item.question || task.question);
    marks = spanMarks(text.markable, before?.spans ?? [], () => (item.label ? again("saved") : unsaved()));
    work.needs.hidden = true;
    if (isMarking) marks.turn(true);
    reading.replaceChildren(heading, ...text.nodes);
    reading.dataset.n = item.n;
    why.set(before?.rationale ?? "", item.label?.rationale);
    {
      const note = item.flagged ? item.why ?? "" : "";
      flagNote.set(note, note);
    }
    chosen = radios({
      name: "label", legend: item.question ?? task.question, all: worded(all, item.words), onchoose: label,
      chosen: item.label ? item.label.label : undefined,
    });
    asking.replaceChildren(...[
      item.label || !item.is_skipped ? null : el("p", { class: "soft" }, "You left this item for later."),
      work.judged(item, () => label(item.shown), "Enter"), chosen.root, work.needs, marks.root, why.root, flagNote.root, el("div", { class: "below" }, actions, links(item.n), last.root)].filter(Boolean));
    flagged();
    notice.querySelector(".done")?.remove();
    root.replaceChildren(work.how.root, notice, reading, asking);
    active.restart();
    focus?.();
    scrollTo({ top: 0 });
    at.ahead(item.n + 1);
  }

  /** Remember what has the focus: it goes to the same thing of the next item. */
  function focused() {
    const radio = chosen?.inputs.indexOf(document.activeElement) ?? -1;
    const key = document.activeElement.dataset?.key;
    return () => {
      if (radio >= 0) chosen.inputs[radio].focus({ preventScroll: true });
      else if (key) asking.querySelector(`[data-key=${key}]`)?.focus({ preventScroll: true });
      else root.focus({ preventScroll: true });
    };
  }

  function label(value) {
    if (!item || isLeaving) return;
    const left = item;
    if (work.lacks(value, marks)) return chosen.show(left.label ? left.label.label : undefined);
    const sent = events.label(left, value, draft(), active.ms());
    sent.then((reply) => reply && keep(left, NOTHING));
    chosen.show(value);
    last.did({ n: left.n, what: "label", label: value });
    say(work.word(value));
    onward(left, sent);
  }

  /** The label that stands, with the reason and marks that are new. */
  function again(what) {
    if (!item?.label) return;
    const same = item;
    if (work.lacks(same.label.label, marks)) return unsaved();
    const sent = events.label(same, same.label.label, draft(), active.ms());
    sent.then((reply) => reply && keep(same, NOTHING));
    active.restart();
    say(what);
  }

  /** The next position is shown at once where it is loaded and open; otherwise the server is asked for one. */
  async function onward(left, sent) {
    isLeaving = true;
    const letGo = holdKeys(PATIENCE_MS);
    await goOn(left, sent).finally(letGo);
  }

  async function goOn(left, sent) {
    const behind = await at.at(left.n + 1).catch(() => null);
    if (item !== left) return;
    if (behind && !behind.label && !behind.is_skipped) return draw(behind);
    const reply = await sent;
    if (item !== left) return;
    isLeaving = false;
    if (!reply) return;
    if (reply.n === null || reply.n === undefined || reply.n === left.n) return finished();
    await show(reply.n, true);
  }

  async function finished() {
    say("all done");
    const end = await ending(api, NOTHING_OPEN, (n) => show(n));
    notice.querySelector(".done")?.remove();
    notice.append(end);
    scrollTo({ top: 0 });
  }

  /** What is not sent is kept in this browser. */
  function unsaved() {
    if (marks.spans().length) work.needs.hidden = true;
    keep(item, draft());
  }

  function clear() {
    if (!item?.label) return say("there is no label to remove");
    events.clear(item);
    chosen.show(undefined);
    last.did({ n: item.n, what: "clear" });
    keep(item, draft());
    say("label removed");
  }

  function flag() {
    if (!item) return;
    events.flag(item, !item.flagged, item.flagged ? "" : flagNote.text());
    flagged();
    last.did({ n: item.n, what: item.flagged ? "flag" : "unflag" });
    say(item.flagged ? "flagged; n writes a note" : "not flagged");
    if (!item.flagged) flagNote.set("");
  }

  /** What is wrong with the item; flagging itself keeps the focus where it is, so that the next key labels. */
  function note() {
    if (!item?.flagged) return say("flag the item first (f)");
    flagNote.open(() => root.focus({ preventScroll: true }));
  }

  function flagged() {
    const button = actions.querySelector("[data-key=f]");
    button.setAttribute("aria-pressed", String(Boolean(item.flagged)));
  }

  function skip() {
    if (!item || isLeaving) return;
    const left = item;
    const sent = events.skip(left);
    last.did({ n: left.n, what: "skip" });
    say("left for later");
    onward(left, sent);
  }

  async function undo(what = "undo") {
    const letGo = holdKeys();
    try {
      const n = await events.back(what);
      if (n === null) return;
      at.forget();
      last.ask();
      await show(n);
      say(what === "undo" ? "undone" : "redone");
    } finally {
      letGo();
    }
  }

  async function move(step) {
    if (!item) return;
    if (!(await show(item.n + step))) say(step < 0 ? "this is the first item" : "this is the last item");
  }

  function spans() {
    marks?.turn(!marks.isOn());
  }

  function reason() {
    if (item) why.open(() => root.focus({ preventScroll: true }));
  }

  return {
    goes: (n) => n !== item?.n && show(n),
    label, clear, flag, note, skip, undo, move, spans, reason,
    isThere: () => Boolean(item),
    keeps: () => work.kept(item, label),
    marks: () => (marks?.isOn() ? marks : null),
    async start() {
      last.ask();
      if (route.n === null || !(await show(route.n))) {
        const n = await at.next();
        await show(n ?? 0);
        if (n === null) finished();
      }
      if (!root.contains(document.activeElement)) root.focus({ preventScroll: true });
    },
    stop: () => work.stop(marks),
  };
}

function bindKeys(task, shown) {
  const words = { j: "next item", k: "previous item", s: "start or stop marking words" };
  const { once } = bindLabelling("item", task, shown, words, (page, step) => void page.move(step));
  bind("n", "note on the flag", once((page) => page.note()), "item");
  bind("l", "leave the item for later", once((page) => page.skip()), "item");
}
