// The texts of an item, to be read: each a block of its own, with what a person marked in it.

import { el, marked } from "../../../report/web/el.js";

const UNMARKED = new Set(["question", "title"]);

/** The question that the texts are about; "" where it is not among them. */
export function questionIn(texts) {
  return texts.find(({ of }) => of === "question")?.text ?? "";
}

/** Blocks of texts, but for the question, and those in which words can be marked.
 *
 * Returns { nodes, markable }; a block has of, name, text, sha256, its node and `paint(marks)`. A title stands in the
 * block of the text behind it.
 */
export function blocks(texts) {
  const nodes = [];
  const markable = [];
  let title = null;
  for (const one of texts) {
    if (one.of === "question") continue;
    if (one.of === "title") {
      title = one.text;
      continue;
    }
    const node = el("p", { class: "text", lang: "" });
    const heading = el("h2", {}, one.name, title ? el("span", { class: "title" }, title) : null);
    title = null;
    nodes.push(el("div", { class: "block" }, heading, node));
    let drawn = "";
    const paint = (marks) => {
      const wanted = JSON.stringify(marks);
      if (wanted !== drawn) node.replaceChildren(...marked(one.text, marks)); // a long text takes a second
      drawn = wanted;
    };
    const block = { ...one, node, paint };
    block.paint([]);
    if (!UNMARKED.has(one.of)) markable.push(block);
  }
  return { nodes, markable };
}
