// What agents did: how items ended, each step of one of them, and whether searches found everything they could.

import { bindKeys, browser, linked } from "../browser.js";
import { columns as unpacked, inflated } from "../data.js";
import { count, el, num } from "../el.js";
import { table } from "../table.js";

const ENDED = {
  nothing_new: "nothing new was found", rounds: "the limit of rounds was reached",
  calls: "the limit of calls was reached", most: "the list was full",
};

/** The section on searches. */
export function searches(id, rows) {
  const known = rows.filter(({ new: by }) => Array.isArray(by));
  const n = known.filter(({ stop }) => stop === "nothing_new").length;
  return [
    el("h3", {}, "Searches"),
    el("p", { class: "lead" },
      `${count(n)} of ${count(known.length, "search", "searches")} ended because nothing new was found. If the last round of a topic `
        + `still found some, facts are likely missing.`),
    table({
      id: `${id}.searches`, of: id, caption: "Searches by topic", rows: known,
      columns: [
        { key: "topic", label: "topic", isText: true, value: (row) => row.topic_id },
        { key: "new", label: "new by round", isText: true, value: (row) => row.new.join(" + ") },
        { key: "nuggets", label: "nuggets", value: (row) => row.nuggets },
        { key: "calls", label: "calls", value: (row) => row.calls },
        { key: "stop", label: "why it ended", isText: true, value: (row) => ENDED[row.stop] ?? row.stop },
      ],
    }),
  ];
}

const MAX_SHOWN = 10; // of a list that came back

/** The steps as a list that is indented by their paths. */
export function steps(all) {
  let tokens = 0;
  return el("ol", { class: "steps" }, all.map((step) => {
    const spent = (step.tokens ?? []).reduce((a, b) => a + b, 0);
    tokens += spent;
    const depth = step.path.split(".").length - 2;
    return el("li", { class: step.kind === "end" ? "end" : null },
      el("span", { class: "path" }, step.path),
      el("div", { class: "said", style: { "padding-left": `${depth * 16}px` } }, said(step),
        "out" in step ? el("span", { class: "back" }, "→ ", back(step.out)) : null),
      el("span", { class: "tokens" }, spent ? `${count(tokens)} tokens` : ""));
  }));
}

function said(step) {
  const name = step.name.replaceAll("_", " ");
  if (step.kind === "end") return ended(step, name);
  const given = Object.entries({ ...step.args, ...step.in }).map(([key, value]) => el("span", {},
    ` ${key.replaceAll("_", " ")} `, el("em", {}, text(value))));
  return [step.kind === "plan" ? el("strong", {}, name) : name, given];
}

function ended({ reason, because = [] }, name) {
  if (reason) return `No outcome: ${reason.replaceAll("_", " ")}`;
  const shown = because.slice(0, MAX_SHOWN).join(", ");
  const more = because.length > MAX_SHOWN ? ` and ${count(because.length - MAX_SHOWN)} more` : "";
  return [`Ended: ${name}`, because.length ? el("span", { class: "back" }, `because of ${shown}${more}`) : null];
}

function back(out) {
  if (Array.isArray(out)) {
    if (!out.length) return "nothing";
    const more = out.length > MAX_SHOWN ? ` and ${count(out.length - MAX_SHOWN)} more` : "";
    return [out.slice(0, MAX_SHOWN).map((one, i) => [i ? ", " : "",
      isHit(one) ? `${one[0]} ${num(one[1], 2)}` : text(Array.isArray(one) ? one[0] : one)]), more];
  }
  if (out === null || typeof out !== "object") return text(out);
  if ("unjudged" in out) return `not judged: ${text(out.unjudged)}`;
  const { evidence, ...rest } = out;
  return Object.entries(rest).map(([key, value]) => [key === "label" ? String(value)
    : ` ${key} ${typeof value === "number" ? num(value, 2) : text(value)}`]);
}

function isHit(one) {
  return Array.isArray(one) && one.length === 2 && typeof one[0] === "string" && typeof one[1] === "number";
}

function text(value) {
  if (Array.isArray(value)) return value.map(text).join(", ");
  return value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const keys = [];

/** See page.js. */
export function bound(view) {
  bindKeys(view, "item");
}

/** See page.js. */
export function draw(view) {
  const { id, data } = view;
  if (data.count) view.browser ??= items(id, data);
  requestAnimationFrame(() => changed(view));
  return [
    el("p", { class: "lead" }, data.count
      ? `Agents judged ${count(data.count, "item")}. The tables count how they ended; a failure is not an outcome. `
        + `Choose an item to see its steps: what the agent asked, what came back, and why it stopped.`
      : "These are the findings of agents. Their steps were not stored."),
    data.evidence.runs.length ? evidence(id, data.evidence) : null,
    data.searches.length ? searches(id, data.searches) : null,
    data.count ? [el("h3", {}, "Item by item"), ends(id, data), view.browser.root] : null,
  ].flat(2).filter(Boolean);
}

/** See page.js. */
export function changed(view) {
  view.browser?.shown();
  return true;
}

function ends(id, { ends: rows }) {
  const isReason = rows.some((row) => row.reason !== null);
  const of = (row) => ({
    [`${id}.stage`]: row.stage, [`${id}.outcome`]: row.outcome, [`${id}.reason`]: row.reason ?? "", [`${id}.at`]: "",
      [`${id}.text`]: "" });
  return table({
    id: `${id}.ends`, of: id, caption: "How items ended", rows,
    columns: [
      { key: "outcome", label: "outcome", isText: true, value: (row) => row.outcome,
        cell: (row) => row.outcome.replaceAll("_", " ") },
      ...(isReason ? [{ key: "reason", label: "why it failed", isText: true, value: (row) => row.reason,
        cell: (row) => row.reason?.replaceAll("_", " ") ?? "" }] : []),
      { key: "stage", label: "stage", isText: true, value: (row) => row.stage },
      { key: "n", label: "items", value: (row) => row.n, cell: (row) => linked(id, of(row), count(row.n)) },
    ],
  });
}

function evidence(id, { outcomes, runs }) {
  const given = outcomes.filter((name) => runs.some((row) => row.counts[name]));
  return [
    el("h3", {}, "Evidence for the sentences"),
    el("p", { class: "lead" },
      "Sentences by run and outcome. Not sought: no search was needed, for example because the citation supports the sentence. "
        + "Check the sentences that are partly supported, contradicted, in conflict or not found."),
    table({
      id: `${id}.evidence`, of: id, caption: "Sentences by run and outcome", rows: runs,
      columns: [
        { key: "run", label: "run", isText: true, value: (row) => row.run },
        { key: "n", label: "sentences", value: (row) => row.n, cell: (row) => count(row.n) },
        ...given.map((name) => ({ key: name, label: name.replaceAll("_", " "), value: (row) => row.counts[name] ?? 0,
          cell: (row) => count(row.counts[name] ?? 0) })),
      ],
    }),
  ];
}

function items(id, data) {
  const columns = unpacked(data.columns);
  const at = (name, row) => columns[name].at(row) ?? "";
  const number = (key, label) => ({ key, label, width: "72px", isNumber: true, cell: (row) => count(at(key, row)) });
  return browser({
    id, caption: "Items of agents", columns, n: data.count,
    by: [["outcome", "Outcome"], ["reason", "Why it failed"], ["stage", "Stage"], ["topic", "Topic"], ["run", "Run"]],
    searched: ["item", "outcome", "reason"],
    shows: [
      { key: "item", label: "item", width: "minmax(240px, 3fr)", cell: (row) => at("item", row) },
      { key: "outcome", label: "outcome", width: "minmax(140px, 1fr)",
        cell: (row) => String(at("outcome", row)).replaceAll("_", " ") },
      ...(columns.reason.values.some((value) => value !== null)
        ? [{ key: "reason", label: "why it failed", width: "minmax(100px, 1fr)",
          cell: (row) => String(at("reason", row)).replaceAll("_", " ") }] : []),
      number("steps", "steps"), number("replies", "replies"), number("tokens", "tokens"),
    ],
    item: (row) => item(data, at, row),
  });
}

function item(data, at, row) {
  const name = at("item", row);
  const root = el("article", { class: "item", "aria-label": `Steps of ${name}` }, el("h3", {}, name));
  const command = el("pre", {}, el("code", {}, `judge trace ${at("results", row)} ${name}`));
  if (data.steps[row] === null) {
    root.append(el("p", { class: "nothing" },
      `To limit its size, this page leaves out the steps of ${count(data.n_left, "item")}, including this one. `
        + `This command prints them:`), command);
    return root;
  }
  const box = el("div", {}, el("p", { class: "nothing" }, "Opening the steps …"));
  root.append(box);
  inflated(data.steps[row]).then((text) => box.replaceChildren(steps(JSON.parse(text)), command));
  return root;
}
