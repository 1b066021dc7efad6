// One answer, sentence by sentence, with what was judged of it and why.

import { count, el, num } from "../web/el.js";
import { snapshot } from "../web/snapshot.js";
import { bind } from "../web/keys.js";
import { get, go, link, section } from "../web/state.js";
import { has } from "../runs/chosen.js";
import { facts } from "./facts.js";
import { finder } from "./parts.js";
import { reading } from "./reading.js";
import { answersTo, textIndex } from "./texts.js";

export const keys = ["topic", "run", "item", "sentence", "measure"];

/** See page.js. What is drawn comes when its texts are unpacked; until then what was there stays. */
export function draw(view) {
  const style = { "min-height": "100vh" }; // to scroll to, before it is filled
  const root = view.once("root", "", () => el("div", { class: "answer", style }));
  const drawing = {};
  view.drawing = drawing;
  filled(view).then(
    (nodes) => {
      if (view.drawing !== drawing) return;
      const restore = snapshot(root);
      root.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
      restore();
      root.style.removeProperty("min-height");
      if (section() === view.id) root.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
    },
    (error) => root.replaceChildren(el("p", { class: "nothing" }, `The texts cannot be opened: ${error.message}`)),
  );
  return [el("p", { class: "lead" }, "What a run wrote, and beside each sentence what was said of it. ",
    el("mark", {}, "Yellow"), ": words that the judge quoted. ", el("mark", { class: "words" }, "Dashed"),
    ": shared words only, no judge's reason."), root];
}

/** See page.js. */
export function bound(view) {
  const step = (by) => () => {
    const { order, run } = view.shown ?? {};
    const next = order?.[order.indexOf(run) + by];
    if (section() !== view.id || !next) return false;
    go(view.id, { run: next, item: "", sentence: "" });
    return true;
  };
  bind("[", "the run before, of an answer", step(-1));
  bind("]", "the next run, of an answer", step(1));
}

async function filled(view) {
  const { id, head } = view;
  const index = await textIndex();
  const topics = head.topics.filter((topic) => Object.hasOwn(index.topics, topic));
  const topic = get("topic") || topics[0] || "";
  const texts = await answersTo(topic);
  view.shown = null;
  const choose = finder(id, "topic", "topic", topics.map((one) => [one, view.data.questions?.[one] ?? ""]), topic);
  if (!texts) return [el("div", { class: "controls" }, choose), absent(index, topic), left(index)];
  const measure = get("measure", head.measures[0]);
  const worth = (run) => texts.answers.get(run).scores.find(([name]) => name === measure)?.[1] ?? -1;
  const order = [...texts.answers.keys()].sort((a, b) => worth(b) - worth(a));
  const run = get("run") || order[0];
  const controls = el("div", { class: "controls" }, choose, finder(id, "run", "run", order.map((one) => [one, num(worth(one) < 0 ? null : worth(one))]), run));
  const title = el("h3", {}, el("a", { class: "plain", href: link("profile", { run }) }, run), el("span", { class: "question" }, texts.question ? ` · ${texts.question}` : ` · ${topic}`));
  if (!texts.answers.has(run)) return [controls, title, el("p", { class: "nothing" }, `${run} has no answer to topic ${topic}.`), left(index)];
  view.shown = { order, run };
  const answer = { ...texts.answers.get(run), byWords: new Set(view.data.by_words) };
  const at = order.indexOf(run);
  const near = (by, text) => (order[at + by] ? el("a", { href: link(id, { run: order[at + by], item: "", sentence: "" }) }, text) : null);
  return [
    controls, title, el("p", { class: "in-short" }, summary(answer, measure)),
    el("p", { class: "near-runs" }, near(-1, "‹ better run"), el("span", {}, `${at + 1} of ${order.length} by ${measure} on this topic`), near(1, "next run ›"),
      has(head, "sides") && order.length > 1 ? el("a", { href: link("sides", { run, other: get("other") === run || !get("other") ? order[at === 0 ? 1 : 0] : get("other"), topic, item: "" }) }, "beside another answer") : null),
    reading(answer, get("item"), get("sentence")), facts(view, answer, get("item")), left(index),
  ];
}

/** An answer in a line: its score, what it states, its length. */
export function summary(answer, measure) {
  const score = answer.scores.find(([name]) => name === measure);
  const vital = answer.judged.filter((one) => one.program === "nuggets" && answer.items[`nuggets ${one.item}`]?.[1] === "vital");
  const stated = vital.filter((one) => one.label === "support").length;
  const unjudged = answer.judged.filter((one) => one.label === undefined || one.unjudged).length;
  return [
    score ? `${measure} ${num(score[1])}` : "",
    vital.length ? `${stated} of ${count(vital.length, "vital nugget")} stated` : "",
    answer.length === null ? "" : count(answer.length, "word"),
    unjudged ? `${unjudged} of ${answer.judged.length} not judged` : count(answer.judged.length, "judgement"),
    answer.not_made ? `not made: ${answer.not_made}` : "",
  ].filter(Boolean).join(" · ");
}

/** What to do where the texts of a topic are not here. */
export function absent(index, topic) {
  const why = Object.keys(index.topics).length ? `There are no texts of topic ${topic} here.` : "There are no texts of answers here.";
  return [el("p", { class: "nothing" }, why), el("pre", {}, el("code", {}, "judge report RESULTS --texts all --max-mb 100"))];
}

/** What was left out of the page. */
export function left({ left: out }) {
  const of = `of ${count(out?.answers ?? 0, "answer")}`;
  return [
    out?.evidence ? el("p", { class: "nothing" }, `${count(out.evidence)} ${of} are cut to the sentences that judgements are about.`) : null,
    out?.none ? el("p", { class: "nothing" }, `The texts ${count(out.none)} ${of} are left out (judge report --max-mb, --texts).`) : null,
  ];
}
