// The steps of an agent on one item, as a tree: what was asked of whom, what came back, tokens until then.

import { count, el, num } from "../web/el.js";

const MOST = 10; // of a list that came back

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
  const shown = because.slice(0, MOST).join(", ");
  const more = because.length > MOST ? ` and ${count(because.length - MOST)} more` : "";
  return [`Ended: ${name}`, because.length ? el("span", { class: "back" }, `because of ${shown}${more}`) : null];
}

function back(out) {
  if (Array.isArray(out)) {
    if (!out.length) return "nothing";
    const more = out.length > MOST ? ` and ${count(out.length - MOST)} more` : "";
    return [out.slice(0, MOST).map((one, i) => [i ? ", " : "",
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
