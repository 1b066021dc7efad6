// The field in which facts are written: one of them, or one a line where one becomes several.

import { count, el, shown } from "../../../report/web/el.js";

const MAX_CHARS = 2_000; // characters of a fact, as the server has it
let made = 0;

/** A field in place. Enter saves, Escape leaves; where lines are facts, Enter starts one.
 *
 * label: what it is for. text: what stands in it at first. isLines: whether each line is a fact.
 * least: facts that it takes. onsave(texts), oncancel(), ontyped(text).
 */
export function editor({ label, text, isLines = false, least = 1, onsave, oncancel, ontyped }) {
  const id = `editor-${++made}`;
  const wrong = el("p", { class: "wrong", role: "alert" });
  const unseen = el("p", { class: "hint" });
  const field = el("textarea", { id, spellcheck: "true", autocomplete: "off", "aria-describedby": `${id}-hint` });
  field.rows = isLines ? 4 : 3;
  field.value = text;
  const texts = () => (isLines ? field.value.split("\n") : [field.value.replace(/\s*\n\s*/g, " ")])
    .map((one) => one.trim()).filter(Boolean);
  const tell = () => {
    const escaped = shown(field.value);
    unseen.replaceChildren();
    if (escaped.querySelector(".escape")) unseen.append("It has invisible characters: ", escaped);
  };
  const save = () => {
    const lines = texts();
    const long = lines.find((one) => one.length > MAX_CHARS);
    if (long) wrong.textContent = `This fact has ${count(long.length)} characters; at most ${count(MAX_CHARS)} are allowed.`;
    else if (lines.length < least)
      wrong.textContent = least > 1 ? `Write ${least} or more facts, one per line.` : "Write some text.";
    else return onsave(lines);
    field.focus();
  };
  field.addEventListener("input", () => {
    wrong.textContent = "";
    tell();
    ontyped(field.value);
  });
  const node = el("div", { class: "editor", onkeydown: (event) => {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") oncancel();
    else if (event.key === "Enter" && event.target === field && !isLines && !event.shiftKey) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  } },
  el("label", { for: id }, label), field,
  el("p", { class: "hint", id: `${id}-hint` }, isLines ? "One fact per line." : "Enter saves, Esc cancels."),
  unseen, wrong,
  el("p", { class: "acts" }, el("button", { type: "button", class: "main", onclick: save }, "Save"),
    el("button", { type: "button", onclick: oncancel }, "Cancel")));
  tell();
  return { node, focus: () => {
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  } };
}
