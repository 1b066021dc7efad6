// Small parts that the matrix and the answer share.

import { el } from "../web/el.js";
import { go, link } from "../web/state.js";

/** A label as its glyph in its tone; where there is an address, a link. */
export function mark(look, name, address = "") {
  const props = { class: `glyph ${look.tone}`, title: name, "aria-label": name };
  return address ? el("a", { ...props, href: address }, look.glyph) : el("i", { ...props, role: "img" }, look.glyph);
}

/** A choice that stands in the address under `key`; options are [value, text]. */
export function choice(of, label, key, options, chosen) {
  const select = el("select", { onchange: () => go(of, { [key]: select.value }) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return el("label", {}, label, select);
}

/** A field with a list to choose one of many from: it filters as it is typed in; "" is none. */
export function finder(of, label, key, options, chosen, none = "") {
  const id = `${of}-${key}`;
  const input = el("input", { id, list: `${id}-list`, value: chosen, placeholder: none, onchange: () => {
    const wanted = input.value.trim();
    const option = options.find(([value]) => value === wanted)
      ?? options.find(([value, text]) => wanted && `${value} ${text}`.toLowerCase().includes(wanted.toLowerCase()));
    if (option || !wanted) go(of, { [key]: option ? option[0] : "" });
    input.setCustomValidity(option || !wanted ? "" : `There is no ${label} like this.`);
    input.reportValidity();
  } });
  return el("label", {}, label, input,
    listed(`${id}-list`, options),
    chosen && none ? el("a", { href: link(of, { [key]: "" }) }, none) : null);
}

const lists = new Map();

/** The options to choose from; the same ones are made once. */
function listed(id, options) {
  const key = JSON.stringify(options);
  if (lists.get(id)?.key !== key)
    lists.set(id, { key, node: el("datalist", { id }, options.map(([value, text]) => el("option", { value }, text))) });
  return lists.get(id).node;
}

/** The weight of a criterion with its sign, as a tag; nothing for what has none. */
export function worth(weight) {
  if (weight === undefined || weight === null) return null;
  const text = `${weight < 0 ? "−" : "+"}${Math.abs(weight)}`;
  const title = weight < 0 ? "a penalty: what it takes off where it applies" : "what it adds where it is met";
  return el("span", { class: weight < 0 ? "worth penalty" : "worth", title }, text);
}

/** Text without a place to break is broken anywhere; an importance as a tag before it, its part of a narrative under it. */
export function fact(text, importance, part = "") {
  return [importance === "vital" ? el("span", { class: "vital" }, "vital") : null, text, part ? el("div", { class: "note" }, part) : null];
}
