// How far are the labels, and are they enough: for the coordinator, drawn anew whenever there is more to say.

import { count, el } from "../../../report/web/el.js";
import { spoken } from "../activity.js";
import { agreement } from "./agreement.js";
import { enough } from "./enough.js";
import { people } from "./people.js";
import { measures, scores } from "./scores.js";

const POLL_MS = 3_000;

// Each part: its title, its nodes of the figures, and which of them it reads; it is drawn anew when these change.
const PARTS = [
  ["people", "Who labels, and how fast?", people, ["sessions", "people"]],
  ["scores", "What are the corrected scores?", scores, ["measures", "level", "reason"]],
  ["agreement", "How good is the judge?", agreement, ["agreement", "anchoring", "overlap"]],
  ["enough", "Are there enough labels?", enough, ["measures", "half_width", "cost", "level"]],
];

/** See app.js. */
export function view(root, api) {
  let [timer, isGone, figures] = [0, false, null];
  let measure = "";
  const before = new Map(); // what each part was drawn of
  const lead = el("p", { class: "lead" }, "Loading …");
  const facts = el("dl", { class: "facts" });
  const late = el("p", { class: "hint" });
  const select = el("select", { onchange: () => {
    measure = select.value;
    draw();
  } });
  const control = el("p", { class: "controls", hidden: true }, el("label", {}, "Measure", select));
  const parts = PARTS.map(([id, title, drawn, reads]) => {
    const body = el("div", { class: "part" });
    return { id, drawn, reads, body, nodes: [el("h2", { id: `progress-${id}` }, title), id === "scores" ? control : null, body] };
  });
  root.replaceChildren(el("section", { id: "progress", class: "sofar", tabindex: "-1", "aria-labelledby": "progress-title" },
    el("h1", { id: "progress-title" }, "Progress of the labels"), lead, facts,
    parts.flatMap(({ nodes }) => nodes), late));

  async function poll() {
    if (!document.hidden || !figures) {
      try {
        figures = await api.get("progress");
        if (isGone) return;
        late.replaceChildren();
        draw();
      } catch (error) {
        if (isGone) return;
        late.replaceChildren(figures ? "These numbers may be out of date: " : "No numbers can be shown: ", error.message, ".");
      }
    }
    if (!isGone) timer = setTimeout(poll, POLL_MS);
  }

  function draw() {
    const names = measures(figures);
    if (!names.includes(measure)) measure = names[0] ?? "";
    again("measures", names, () => {
      select.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === measure }, name)));
      control.hidden = names.length < 2;
    });
    again("lead", sentence(figures), () => lead.replaceChildren(sentence(figures)));
    const entries = short(figures);
    again("facts", entries, () => facts.replaceChildren(...entries.map(([name, value, more]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value, more ? el("small", {}, more) : null)))));
    for (const part of parts) again(part.id, [part.reads.map((name) => figures[name]), measure], () => {
      const scrolled = [...part.body.querySelectorAll(".scroll")].map(({ scrollLeft, scrollTop }) => [scrollLeft, scrollTop]);
      const focused = [...part.body.querySelectorAll("[tabindex]")].indexOf(document.activeElement);
      part.body.replaceChildren(...[part.drawn(figures, measure)].flat(3).filter(Boolean));
      [...part.body.querySelectorAll(".scroll")].forEach((one, i) => scrolled[i] && one.scrollTo(...scrolled[i]));
      if (focused >= 0) part.body.querySelectorAll("[tabindex]")[focused]?.focus({ preventScroll: true });
    });
  }

  function again(name, data, make) {
    const now = JSON.stringify(data);
    if (before.get(name) === now) return;
    before.set(name, now);
    make();
  }

  const shown = () => {
    if (document.hidden) return;
    clearTimeout(timer);
    poll();
  };
  document.addEventListener("visibilitychange", shown);
  poll();
  return () => {
    isGone = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  };
}

function sentence({ sessions = [], of_labels: labels, computed_at: at }) {
  const done = sessions.reduce((sum, { done: n }) => sum + n, 0);
  if (!done) return "Nobody has labelled anything yet. This page updates itself as people label.";
  const behind = labels === undefined || labels === null ? "" : ` The numbers below use ${count(labels, "label")}`
    + `${at ? `, as of ${clock(at)}` : ""}; new labels count after a moment.`;
  return `This page updates itself.${behind}`;
}

function short({ sessions = [] }) {
  const sum = (key) => sessions.reduce((total, one) => total + (one[key] ?? 0), 0);
  const total = sum("total");
  return [
    ["done", count(sum("done")), total ? `of ${count(total)} in the queues` : ""],
    ["people", count(sessions.length), ""],
    ["active time", spoken(sum("active_ms")), "without pauses"],
  ];
}

function clock(at) {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? String(at) : time.toLocaleTimeString("en-GB");
}
