// What did it cost.

import { count, el, num } from "../el.js";
import { table } from "../table.js";

export const keys = [];

/** See page.js. */
export function draw({ id, data }) {
  return [
    el(
      "p",
      { class: "lead" },
      "Judgements, requests and tokens by stage. " +
        "A cached reply costs nothing and counts no tokens. " +
        "An unknown price is not counted as 0.",
    ),
    ...data.folders.flatMap((folder, i) => ofFolder(id, folder, i, data.folders.length > 1)),
  ];
}

function ofFolder(id, folder, i, isNamed) {
  const name = (what) => `${id}.${what}${i || ""}`;
  const number = (key, label) => ({
    key,
    label,
    value: (row) => row[key] ?? null,
    cell: (row) => (row[key] === null || row[key] === undefined ? "–" : count(row[key])),
  });
  const text = (key, label = key) => ({ key, label, isText: true, value: (row) => row[key] });
  const money = { key: "cost", label: "cost", value: (row) => row.cost, cell: (row) => dollars(row.cost) };
  const { last } = folder;
  const parts = [
    isNamed ? el("h3", {}, folder.folder) : null,
    table({
      id: name("stages"),
      of: id,
      caption: "Judgements by stage",
      rows: folder.stages,
      columns: [
        text("stage"),
        number("judged", "judged"),
        number("unjudged", "unjudged"),
        number("calls", "calls"),
      ],
    }),
  ];
  if (folder.spend.length)
    parts.push(
      el(
        "p",
        { class: "lead" },
        `Requests and tokens by stage, over ${count(folder.n_starts, "start")} of the command:`,
      ),
      table({
        id: name("spend"),
        of: id,
        caption: "Requests and tokens by stage",
        rows: folder.spend,
        columns: [
          text("stage"),
          number("requests", "requests"),
          number("cache_hits", "from the cache"),
          number("prompt_tokens", "prompt tokens"),
          number("cached_tokens", "cached prompt tokens"),
          number("completion_tokens", "reply tokens"),
          money,
        ],
      }),
    );
  if (folder.models.length)
    parts.push(
      el("p", { class: "lead" }, "Tokens of all replies in the results, by model:"),
      table({
        id: name("models"),
        of: id,
        caption: "Tokens by model",
        rows: folder.models,
        columns: [
          text("model"),
          number("prompt", "prompt tokens"),
          number("cached", "cached prompt tokens"),
          number("completion", "reply tokens"),
        ],
      }),
    );
  if (folder.agents.length)
    parts.push(
      el("p", { class: "lead" }, "Calls and tokens of agents, and the most calls that their limits allow:"),
      table({
        id: name("agents"),
        of: id,
        caption: "Work of agents",
        rows: folder.agents,
        columns: [
          text("stage"),
          number("items", "items"),
          number("calls", "calls"),
          { key: "most", label: "at most", value: (row) => row.most.calls, cell: (row) => count(row.most.calls) },
          number("tokens", "tokens"),
        ],
      }),
    );
  if (last.requests !== undefined)
    parts.push(
      el(
        "p",
        { class: "lead" },
        `The last start only: ${count(last.requests, "request")}, ${count(last.cache_hits)} from the cache, ` +
          `${count(last.tokens, "token")}, ` +
          `${dollars(last.cost)}, ${num(last.seconds, 1)} s.`,
      ),
    );
  return parts.filter(Boolean);
}

/** Dollars, as `format_money` of views/numbers.py. */
function dollars(value) {
  if (value === null || value === undefined) return "unknown";
  if (!value) return "$0";
  return value < 0.005 ? "< $0.01" : `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
