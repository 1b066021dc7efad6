// All items of one answer at once: the answer on the left, a list on the right, every label in sight.

import { count, el, say } from "../../../report/web/el.js";
import { bind } from "../../../report/web/state.js";
import { holdKeys } from "../waitingkeys.js";
import { makeEvents } from "./events.js";
import { keep, kept } from "./drafts.js";
import { ending } from "./ending.js";
import { bindLabelling, labelling } from "./labelling.js";
import { radios, worded } from "./labels.js";
import { mounted } from "./mounted.js";
import { refusal, trouble } from "./notices.js";
import { spanMarks } from "./spans.js";
import { strip } from "./strip.js";
import { blocks, questionIn } from "./texts.js";
import { noteField } from "./why.js";

const PATIENCE_MS = 1_000; // then keys are for what is shown, though the server has not answered
const NOTHING = { rationale: "", spans: [] };

/** Draw the screen into `root`; returns what takes it down. */
export const view = mounted("answer", screen, bindKeys);

function screen(root, api, route) {
  const { task } = api;
  const work = labelling(api);
  const { active, all } = work;
  let rows = [];
  let at = 0; // the row that keys are for
  let marks = null;

  const last = strip(api, all, (n) => goes(n));
  const notice = el("div", { class: "notice" });
  const reading = el("div", { class: "reading" });
  const list = el("ol", { class: "rows" });
  const left = el("p", { class: "soft", role: "status" });
  const below = el("div", { class: "more" },
    el("button", { type: "button", class: "main", onclick: () => done() }, el("kbd", { "aria-hidden": "true" }, "d"), " all done"), left, last.root);
  const why = noteField({
    label: "Why this label?",
    ontyped: () => keep(rows[at].item, draft()),
    onleft: () => again(),
  });
  const events = makeEvents(api, (error, n) => notice.append(refusal(error, n === undefined ? null : () => open(n))));
  const draft = () => ({ rationale: why.text(), spans: marks?.spans() ?? [] });

  /** The answer of a position, at that position; otherwise at the first of its items without a label. */
  async function open(n, isThere = true) {
    const isWanted = work.turn();
    const letGo = holdKeys(PATIENCE_MS);
    try {
      const answer = await api.get("answer", { n });
      if (isWanted()) draw(answer, isThere ? n : null);
    } catch (error) {
      if (!rows.length) throw error;
      if (isWanted()) notice.append(trouble(error));
    } finally {
      letGo();
    }
  }

  /** To a position: of this answer, or of another. */
  function goes(n) {
    const i = rows.findIndex(({ item }) => item.n === n);
    if (i < 0) return open(n);
    return choose(i);
  }

  function draw({ question, answer, items }, n) {
    marks?.stop();
    marks = null;
    const read = blocks([{ name: "Answer", ...answer }]);
    marks = spanMarks(read.markable, [], () => (rows[at].item.label ? again() : unsaved()));
    reading.replaceChildren(...read.nodes, marks.root);
    const isShared = items.every(({ texts }) => questionIn(texts) === question);
    const above = new Set([answer.of, ...(isShared ? ["question"] : [])]);
    rows = items.map((item, i) => row(item, i, above));
    list.replaceChildren(...rows.map(({ root: one }) => one));
    root.replaceChildren(work.how.root, notice, el("h1", {}, (isShared && question) || task.question),
      el("div", { class: "beside" }, reading, el("div", { class: "listed" }, list, below)));
    at = -1;
    choose(Math.max(rows.findIndex(({ item }) => (n === null ? !item.label : item.n === n)), 0));
    if (!root.contains(document.activeElement)) root.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }

  function row(item, i, above) {
    const read = item.texts.filter(({ of }) => !above.has(of));
    const words = read.map(({ text }) => text).join(" ");
    const buttons = radios({
      name: `label-${item.n}`, legend: el("span", { class: "text" }, words), all: worded(all, item.words),
      chosen: item.label ? item.label.label : undefined,
      onchoose: (value) => {
        choose(i);
        label(value, false);
      },
    });
    const marksOf = el("span", { class: "signs" });
    const one = el("li", { onclick: () => choose(i), onfocusin: () => choose(i) }, buttons.root, marksOf,
      work.judged(item, () => {
        choose(i);
        label(item.shown, false);
      }));
    const row = { item, root: one, buttons, signs: marksOf };
    signs(row);
    return row;
  }

  function signs({ item, signs: list }) {
    list.replaceChildren(...[
      item.flagged ? el("span", {}, "⚑ flagged") : null,
      item.is_skipped && !item.label ? el("span", {}, "→ left for later") : null,
      item.label?.rationale ? el("span", {}, "✎ with a reason") : null,
    ].filter(Boolean));
  }

  /** Make a row the one that keys, marks and the reason are for. */
  function choose(i) {
    if (i === at || !rows[i]) return;
    rows[at]?.root.removeAttribute("aria-current");
    if (document.activeElement instanceof HTMLTextAreaElement) document.activeElement.blur();
    at = i;
    const { item, root: one } = rows[i];
    one.setAttribute("aria-current", "true");
    const before = kept(item) ?? item.label;
    work.needs.hidden = true;
    marks.set(before?.spans ?? []);
    why.set(before?.rationale ?? "", item.label?.rationale);
    one.append(why.root);
    route.go("answer", { n: item.n }, true);
    one.scrollIntoView({ block: "nearest" });
    tell();
  }

  function tell() {
    const open = rows.filter(({ item }) => !item.label).length;
    left.textContent = open ? `${count(open, "item")} without a label` : "all items have a label";
  }

  function label(value, goesOn) {
    const { item, buttons } = rows[at];
    if (work.lacks(value, marks)) {
      rows[at].root.append(work.needs);
      return buttons.show(item.label ? item.label.label : undefined);
    }
    const sent = events.label(item, value, draft(), active.ms());
    sent.then((reply) => reply && keep(item, NOTHING));
    active.restart();
    buttons.show(value);
    signs(rows[at]);
    last.did({ n: item.n, what: "label", label: value });
    tell();
    if (goesOn && at + 1 < rows.length) move(1, `${work.word(value)}. `);
    else say(work.word(value));
  }

  function again() {
    const { item } = rows[at];
    if (!item.label) return;
    if (work.lacks(item.label.label, marks)) {
      rows[at].root.append(work.needs);
      return unsaved();
    }
    const sent = events.label(item, item.label.label, draft(), active.ms());
    sent.then((reply) => reply && keep(item, NOTHING));
    active.restart();
    signs(rows[at]);
    say("saved");
  }

  /** What is not sent is kept in this browser. */
  function unsaved() {
    if (marks.spans().length) work.needs.hidden = true;
    keep(rows[at].item, draft());
  }

  function move(step, first = "") {
    const to = rows[at + step];
    if (!to) return say(step < 0 ? "this is the first item" : "this is the last item");
    const isOnRadio = rows[at].root.contains(document.activeElement) && document.activeElement.matches("[type=radio]");
    const radio = isOnRadio ? rows[at].buttons.inputs.indexOf(document.activeElement) : -1;
    choose(at + step);
    if (radio >= 0) to.buttons.inputs[radio].focus({ preventScroll: true });
    say(`${first}${to.root.querySelector("legend").textContent.slice(0, 400)}`);
  }

  function clear() {
    const { item, buttons } = rows[at];
    if (!item.label) return say("there is no label to remove");
    events.clear(item);
    buttons.show(undefined);
    keep(item, draft());
    last.did({ n: item.n, what: "clear" });
    signs(rows[at]);
    tell();
    say("label removed");
  }

  function flag() {
    const { item } = rows[at];
    events.flag(item, !item.flagged);
    last.did({ n: item.n, what: item.flagged ? "flag" : "unflag" });
    signs(rows[at]);
    say(item.flagged ? "flagged" : "not flagged");
  }

  async function undo(what = "undo") {
    const letGo = holdKeys();
    try {
      const n = await events.back(what);
      if (n === null) return;
      last.ask();
      await open(n);
      say(what === "undo" ? "undone" : "redone");
    } finally {
      letGo();
    }
  }

  /** On to the next answer, once each item of this one has a label or "cannot tell". */
  async function done() {
    const open1 = rows.findIndex(({ item }) => !item.label);
    if (open1 >= 0) {
      choose(open1);
      return say(`${left.textContent}: give each item a label or "cannot tell"`);
    }
    const isWanted = work.turn(false);
    const letGo = holdKeys(PATIENCE_MS);
    const { n } = await api.get("next", { after: rows.at(-1).item.n }).catch((error) => {
      notice.replaceChildren(trouble(error));
      return {};
    });
    queueMicrotask(letGo); // what is open by then holds them itself
    if (n === undefined || !isWanted()) return;
    if (n === null) {
      say("all done");
      notice.replaceChildren(await ending(api, "Every item of every answer has a label. You can still go back and change a label.", (n) => goes(n)));
    } else await open(n, false);
  }

  return {
    goes, clear, flag, undo, move, done,
    label: (value) => label(value, true),
    keeps: () => work.kept(rows[at]?.item, (shown) => label(shown, true)),
    reason: () => why.open(() => root.focus({ preventScroll: true })),
    spans: () => marks?.turn(!marks.isOn()),
    marks: () => (marks?.isOn() ? marks : null),
    isThere: () => rows.length > 0,
    async start() {
      last.ask();
      if (route.n !== null) await open(route.n);
      else await open((await api.get("next")).n ?? 0, false);
    },
    stop: () => work.stop(marks),
  };
}

function bindKeys(task, shown) {
  const words = { j: "next item of the list", k: "previous item of the list", s: "start or stop marking words of the answer" };
  const { any, once } = bindLabelling("answer", task, shown, words);
  bind("ArrowDown", "same as j", any((page) => page.move(1)), "answer");
  bind("ArrowUp", "same as k", any((page) => page.move(-1)), "answer");
  bind("d", "all done, go to the next answer", once((page) => void page.done()), "answer");
}
