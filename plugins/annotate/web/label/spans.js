// Words that are marked in texts: with the mouse, with a finger, or by sentence and word with keys.

import { el, say } from "../../../report/web/el.js";
import { cut, selectedIn, trimmed, units } from "./points.js";

const MAX_SPANS = 100; // as the server has it
const SHORT = 80; // code points of a span that its button names

/** Marks in these blocks (`markable` of `blocks`), as { of, start, end, sha256 }.
 *
 * spans: those that stand there. onchange(spans): after each change; not for those given.
 * Returns root, the bar and the list of what is marked; `isOn()`, `turn(on)`, `move(step, extends)`, `mark()`,
 * `drop()`, `byWord()` for keys; `spans()`, `set(spans)`; `stop()`.
 */
export function spanMarks(markable, spans, onchange) {
  let current = [];
  let isOn = false;
  let granularity = "sentence";
  let cursor = null; // { block, units, anchor, head }: numbers of units
  const list = el("ul", { class: "marked", "aria-label": "Words that you marked" });
  const grain = el("button", { type: "button", onclick: () => byWord() });
  const bar = el("div", { class: "marking", role: "group", "aria-label": "Mark words", hidden: true },
    el("p", {}, "Select words with the mouse", el("span", { class: "by-keys" }, ", or go by sentence with ", el("kbd", {}, "["), " ",
      el("kbd", {}, "]"), " (Shift: select several)"), "."),
    // What is selected would be let go of before the click.
    el("button", { type: "button", onpointerdown: (event) => event.preventDefault(), onclick: () => mark() },
      el("kbd", { "aria-hidden": "true" }, "Enter"), " mark"),
    grain,
    el("button", { type: "button", onclick: () => turn(false) }, el("kbd", { "aria-hidden": "true" }, "s"), " done"));
  const root = el("div", { class: "spans" }, bar, list);

  const of = (block) => current.filter((span) => span.of === block.of);
  const chosen = () => {
    const at = [cursor.anchor, cursor.head].sort((a, b) => a - b);
    return { start: cursor.units[at[0]].start, end: cursor.units[at[1]].end };
  };

  function paint() {
    for (const block of markable) {
      const marks = of(block).map(({ start, end }) => ({ start, end, class: "span" }));
      if (isOn && cursor?.block === block) marks.push({ ...chosen(), class: "cursor" });
      block.paint(marks);
      block.node.classList.toggle("is-marked", isOn);
    }
    bar.hidden = !isOn;
    grain.replaceChildren(el("kbd", { "aria-hidden": "true" }, "w"), granularity === "word" ? " by sentence" : " by word");
    list.hidden = !current.length;
    list.replaceChildren(...current.map((span) => {
      const block = markable.find((one) => one.of === span.of);
      const words = block ? short(cut(block.text, span)) : "";
      return el("li", {}, el("q", {}, words),
        el("button", { type: "button", "aria-label": `remove the mark: ${words}`, onclick: () => take(span) }, "✕"));
    }));
  }

  function change(next, what) {
    current = next.sort((a, b) => order(a) - order(b) || a.start - b.start);
    cursor = null;
    paint();
    onchange([...current]);
    say(what);
  }
  const order = (span) => markable.findIndex((block) => block.of === span.of);

  function take(span) {
    change(current.filter((one) => one !== span), "mark removed");
  }

  /** Add a range; one that is marked as it is goes, one that lies over others takes them in. */
  function add(block, range) {
    const own = of(block);
    const same = own.find(({ start, end }) => start === range.start && end === range.end);
    if (same) return take(same);
    if (current.length >= MAX_SPANS) return say(`at most ${MAX_SPANS} marks are possible`);
    const over = own.filter(({ start, end }) => start < range.end && range.start < end);
    const start = Math.min(range.start, ...over.map((one) => one.start));
    const end = Math.max(range.end, ...over.map((one) => one.end));
    const rest = current.filter((one) => !over.includes(one));
    change([...rest, { of: block.of, start, end, sha256: block.sha256 }], `marked: ${short(cut(block.text, { start, end }))}`);
  }

  /** Mark what is selected; false where nothing is. */
  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount) return false;
    const range = selection.getRangeAt(0);
    const inside = markable.filter((block) => range.intersectsNode(block.node) && selectedIn(block.node, range));
    const block = inside.find(({ node }) => node.contains(selection.anchorNode)) ?? inside[0];
    const span = block && trimmed(block.text, selectedIn(block.node, range));
    if (!span) return false;
    selection.removeAllRanges();
    add(block, span);
    return true;
  }

  function move(step, isExtended) {
    const all = () => markable.map((block) => ({ block, units: units(block.text, granularity) })).filter((one) => one.units.length);
    if (!cursor) {
      const [first] = all();
      if (!first) return;
      cursor = { ...first, anchor: 0, head: 0 };
    } else {
      const head = cursor.head + step;
      if (head >= 0 && head < cursor.units.length) cursor = { ...cursor, head, anchor: isExtended ? cursor.anchor : head };
      else if (!isExtended) {
        const others = all();
        const at = others.findIndex(({ block }) => block === cursor.block) + step;
        if (!others[at]) return;
        const end = step > 0 ? 0 : others[at].units.length - 1;
        cursor = { ...others[at], anchor: end, head: end };
      }
    }
    paint();
    const { block } = cursor;
    block.node.querySelector("mark.cursor")?.scrollIntoView({ block: "nearest" });
    say(`${block.name}: ${short(cut(block.text, chosen()), 400)}`);
  }

  function mark() {
    if (!selected() && cursor) add(cursor.block, chosen());
  }

  /** Take away what the cursor is in, otherwise the last mark. */
  function drop() {
    const at = cursor && chosen();
    const under = at && of(cursor.block).find(({ start, end }) => start < at.end && at.start < end);
    const gone = under ?? current.at(-1);
    if (gone) take(gone);
  }

  function byWord() {
    granularity = granularity === "word" ? "sentence" : "word";
    const from = cursor && chosen().start;
    if (cursor) {
      const parts = units(cursor.block.text, granularity);
      const at = Math.max(parts.findIndex(({ end }) => end > from), 0);
      cursor = { ...cursor, units: parts, anchor: at, head: at };
    }
    paint();
    say(`by ${granularity}`);
  }

  function turn(on) {
    isOn = on;
    cursor = null;
    paint();
    say(on ? "Marking words: [ and ] move by sentence, Enter marks, s stops" : "Marking stopped");
  }

  const lifted = (event) => {
    const isOurs = event.target instanceof Element && event.target.closest("button, .marking");
    if (isOn && event.pointerType === "mouse" && !isOurs) setTimeout(selected);
  };
  addEventListener("pointerup", lifted);
  const set = (next) => {
    current = [...next];
    cursor = null;
    paint();
  };
  set(spans);
  return {
    root, turn, move, mark, drop, byWord, set,
    isOn: () => isOn,
    spans: () => [...current],
    stop: () => removeEventListener("pointerup", lifted),
  };
}

function short(text, most = SHORT) {
  const points = [...text];
  return points.length > most ? `${points.slice(0, most).join("")} …` : text;
}
