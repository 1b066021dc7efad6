// The relevant passages beside a topic's facts: opened one by one, found by words.

import { count, el, sharedWords } from "../../../report/web/el.js";
import { reading } from "./reading.js";

const MAX_MARKED = 20_000; // characters of a passage in which shared words are looked for

/** `node` of these passages; `about(text)` underlines the words that they share with a fact. */
export function passages(all) {
  let fact = "";
  const parts = all.map((one, i) => part(one, i === 0));
  const output = el("output");
  const filter = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    parts.forEach(({ node, text }) => {
      node.hidden = !words.every((word) => text.includes(word));
      n += node.hidden ? 0 : 1;
    });
    output.textContent = words.length ? `${count(n)} of ${count(all.length)}` : "";
  } });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !filter.value) filter.blur();
  });

  function part(one, isOpen) {
    const body = el("div", { class: "body" });
    const draw = () => {
      const marks = one.text.length > MAX_MARKED ? [] : sharedWords(one.text, fact)
        .map((mark) => ({ ...mark, title: "this word is also in the fact" }));
      body.replaceChildren(reading(one.text, marks));
    };
    const node = el("details", { class: "passage", open: isOpen, ontoggle: () => node.open && draw() },
      el("summary", {}, one.title || one.id, one.title ? el("small", {}, ` ${one.id}`) : null), body);
    if (isOpen) draw();
    return { node, draw, text: `${one.title ?? ""}\n${one.text}`.toLowerCase() };
  }

  const node = all.length
    ? [el("p", { class: "controls" }, el("label", {}, "Search", filter), output),
      el("p", { class: "hint" }, "Underlined: words that are also in the current fact."),
      parts.map((one) => one.node)]
    : el("p", { class: "nothing" }, "There are no passages for these facts. To show them, the results must name their topics, "
      + "passages and candidates, and those files must be unchanged.");
  return {
    node: el("div", { class: "passages" }, node),
    find: () => {
      filter.focus();
      return all.length > 0;
    },
    about: (text) => {
      if (text === fact) return;
      fact = text;
      for (const one of parts) if (one.node.open) one.draw();
    },
  };
}
