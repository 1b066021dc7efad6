// One topic: the sentences of each run in their order, by what their citations carry.

import { el, num } from "../web/el.js";
import { roving } from "../web/roving.js";
import { link } from "../web/state.js";
import { table } from "../web/table.js";
import { mark } from "./parts.js";

/** The table; `order` has the indices of its runs. */
export function strips(id, matrix, topic, order) {
  const given = matrix.strips(topic);
  const rows = order.filter((run) => given[run]).map((run) => {
    const of = (label) => given[run].filter((code) => matrix.codes[code] === label).length;
    return { run: matrix.runs[run], codes: given[run], ...matrix.counted(given[run]), uncited: of("uncited") };
  });
  const drawn = table({
    id, of: id, caption: `Sentences of topic ${topic} by run`, rows, limit: rows.length || 1,
    columns: [
      { key: "run", label: "run", isText: true, className: () => "fact-text", value: (row) => row.run },
      { key: "strip", label: "sentences", isText: true, className: () => "strip", cell: (row) => row.codes.map((code, at) => sentence(matrix, topic, row.run, code, at)) },
      { key: "rate", label: "share full", title: "of those that were judged", value: (row) => row.rate, cell: (row) => num(row.rate, 2) },
      { key: "hits", label: "full", value: (row) => row.hits },
      { key: "n", label: "judged", value: (row) => row.n },
      { key: "uncited", label: "no citation", value: (row) => row.uncited },
      { key: "unjudged", label: "not judged", value: (row) => row.unjudged },
    ],
  });
  roving(drawn.querySelector("table"));
  const without = order.filter((run) => !given[run]).length;
  return [drawn, without ? el("p", { class: "nothing" }, `${without} of ${order.length} runs have no sentences here.`) : null].filter(Boolean);
}

function sentence(matrix, topic, run, code, at) {
  const look = matrix.looks[code];
  return look.glyph ? mark(look, `sentence ${at + 1}: ${look.word}`, link("answer", { topic, run, item: "", sentence: at })) : " ";
}
