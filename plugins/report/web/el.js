// Elements, text and numbers as the page shows them, and small helpers for what is drawn.

const NAMES = new Set([
  "class", "id", "title", "role", "scope", "type", "value", "name", "for", "tabindex", "colspan", "rowspan",
  "checked", "selected", "disabled", "hidden", "open", "placeholder", "lang", "download", "width", "height",
  "min", "max", "rel", "list", "autocomplete", "spellcheck",
  "stroke-width", "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "fill", "stroke", "points", "transform",
  "text-anchor", "preserveAspectRatio", "overflow",
]);
const views = new WeakMap(); // where links lead, which are drawn once and followed later
const SVG = "http://www.w3.org/2000/svg";
// Characters that draw nothing, or turn the direction of what follows: shown as escapes.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;

/** An element; `props` are attributes, `on...` listeners and `style`, an object; children nodes or text. */
export function el(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same of SVG. */
export function svg(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const key in value) element.style.setProperty(key, value[key]);
    else if (name === "href") {
      setLink(element, String(value));
      if (typeof value === "object") views.set(element, value);
    }
    else if (NAMES.has(name) || name.startsWith("aria-") || name.startsWith("data-"))
      element.setAttribute(name, value === true ? "" : String(value));
    else throw new Error(`${element.tagName} gets no ${name}`);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : shown(String(child)));
  }
  return element;
}

const PAGE = /^(?:\.\.\/)?(?:[\w.~%-]+\/)*[\w.~%-]+\.html(?:#.*)?$/; // beside this one

/** A link that is about to be followed leads to its view with all else as it is by now. */
export function freshen({ target }) {
  const element = target.closest?.("a");
  if (views.has(element)) setLink(element, String(views.get(element)));
}

function setLink(element, address) {
  if (PAGE.test(address)) element.setAttribute("href", address);
  else if (address.startsWith("#") || /^https?:\/\//.test(address)) element.setAttribute("href", address);
  else if (address.startsWith("blob:")) element.setAttribute("href", address);
}

/** Text as nodes, with what cannot be seen as a marked escape. */
export function shown(text) {
  const fragment = document.createDocumentFragment();
  if (!UNSEEN.test(text)) {
    fragment.append(text);
    return fragment;
  }
  let plain = "";
  for (const character of text) {
    if (!UNSEEN.test(character)) {
      plain += character;
      continue;
    }
    fragment.append(plain);
    plain = "";
    const mark = document.createElement("span");
    mark.className = "escape";
    const code = character.codePointAt(0).toString(16);
    mark.textContent = code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
    mark.title = "an invisible character";
    fragment.append(mark);
  }
  fragment.append(plain);
  return fragment;
}

/** A name that breaks between its parts where a line ends. */
export function nameParts(text) {
  return String(text).split(/(?<=[-._/:@,])(?=[^-._/:@,])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
}

/** A name that fits: its two ends, if it is long. */
export function short(name, most = 26) {
  const characters = [...name];
  const half = Math.floor((most - 1) / 2);
  return characters.length <= most ? name : `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}`;
}

/** A number without a leading zero; `–` where there is none. */
export function num(value, digits = 3, sign = false) {
  if (value === null || value === undefined) return "–";
  const text = rounded(Math.abs(value), digits).replace(/^0\./, ".");
  const isNull = Number(text) === 0;
  return (value < 0 && !isNull ? "−" : sign && !isNull ? "+" : "") + text;
}

/** Rounds as Python does: halves to the even digit. */
function rounded(value, digits) {
  const halves = value * 2 ** (digits + 1); // odd where the value lies between two numbers of so many digits
  if (halves % 2 !== 1) return value.toFixed(digits);
  const below = (halves * 5 ** digits - 1) / 2;
  return ((below + (below % 2)) / 10 ** digits).toFixed(digits);
}

/** A count with separated thousands, and `noun` in the singular or plural. */
export function count(n, noun = "", plural = `${noun}s`) {
  const text = n.toLocaleString("en-US");
  return noun ? `${text} ${n === 1 ? noun : plural}` : text;
}

/** Say something to people who do not see the page. */
export function say(text) {
  document.querySelector(".live").textContent = text;
}

/** Nodes of a text; marks are { start, end, ...attributes }, and may lie over each other. */
export function marked(text, marks) {
  const points = [...text];
  const cut = (start, end) => points.slice(start, end).join("");
  const ends = new Set([0, points.length]);
  for (const { start, end } of marks) ends.add(Math.min(start, points.length)).add(Math.min(end, points.length));
  const borders = [...ends].sort((a, b) => a - b);
  return borders.slice(1).map((end, i) => {
    const start = borders[i];
    const over = marks.filter((mark) => mark.start <= start && end <= mark.end);
    if (!over.length) return shown(cut(start, end));
    const titles = [...new Set(over.map(({ title }) => title).filter(Boolean))];
    const classes = [...new Set(over.map((mark) => mark.class).filter(Boolean))];
    return el("mark", { class: classes.join(" ") || null, title: titles.join("\n") || null }, cut(start, end));
  });
}

/** Marks of the words of a text, four letters or longer, that another text has too. */
export function sharedWords(text, other) {
  const words = /[\p{L}\p{N}]{4,}/gu;
  const known = new Set((other.match(words) ?? []).map((word) => word.toLowerCase()));
  let point = 0;
  let unit = 0;
  return [...text.matchAll(words)].filter(([word]) => known.has(word.toLowerCase())).map((match) => {
    point += [...text.slice(unit, match.index)].length;
    unit = match.index;
    return { start: point, end: point + [...match[0]].length, class: "words", title: "shared words; the judge did not quote them" };
  });
}

let fitting = null;

function fit(entries) {
  for (const { target } of entries) {
    const box = target.closest(".scroll");
    box?.classList.toggle("fits", box.scrollWidth <= box.clientWidth + 1);
  }
}

/** A box around something wide; `props` are those of its element. */
export function scroller(label, props, child) {
  const box = el("div", { role: "region", "aria-label": label, tabindex: "0", ...props, class: `scroll ${props.class ?? ""}`.trim() }, child);
  fitting ??= new ResizeObserver(fit);
  fitting.observe(box);
  fitting.observe(child);
  return box;
}

/** Let arrows move between the links of a table's body; Home and End go to the ends of a row. */
export function roving(table) {
  const linkRows = () => [...table.querySelectorAll("tbody tr")]
    .map((row) => [...row.querySelectorAll("td a")]).filter((links) => links.length);
  linkRows().flat().forEach((link, i) => link.setAttribute("tabindex", i ? "-1" : "0"));
  table.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = linkRows();
    const y = rows.findIndex((links) => links.includes(event.target));
    if (y < 0) return;
    const x = rows[y].indexOf(event.target);
    const to = {
      ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], ArrowUp: [y - 1, x], ArrowDown: [y + 1, x],
      Home: [y, 0], End: [y, rows[y].length - 1],
    }[event.key];
    const row = to && rows[to[0]];
    if (!to) return;
    event.preventDefault();
    const next = row?.[event.key.endsWith("Up") || event.key.endsWith("Down") ? Math.min(to[1], row.length - 1) : to[1]];
    if (!next) return;
    event.target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return table;
}

const FOCUSABLE = "a[href], button, input, select, textarea, [tabindex]";

/** Remember the state of `root`; call what is returned when it has been drawn anew to restore it.
 *
 * What has the focus is found again by its id or name, otherwise by its index among what can have it.
 */
export function snapshot(root) {
  const active = document.activeElement;
  const isInside = active !== root && root.contains(active);
  const index = isInside ? [...root.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const isText = isInside && active.matches("input:not([type]), input[type=text], input[type=search]");
  const selection = isText ? [active.selectionStart, active.selectionEnd] : null;
  const scrolls = [...root.querySelectorAll(".scroll")].map((one) => [one, one.scrollLeft, one.scrollTop]);
  return () => {
    const now = [...root.querySelectorAll(".scroll")];
    scrolls.forEach(([before, left, top], i) => {
      const isMoved = (left || top) && now[i] && now[i] !== before; // else nothing is to be laid out for it
      if (isMoved) [now[i].scrollLeft, now[i].scrollTop] = [left, top];
    });
    if (!isInside || active.isConnected) return;
    const again = named(root, active) ?? root.querySelectorAll(FOCUSABLE)[index] ?? root;
    again.focus({ preventScroll: true });
    if (selection && again.setSelectionRange) again.setSelectionRange(...selection);
  };
}

function named(root, { id, name, tagName }) {
  if (id) return document.getElementById(id);
  return name ? [...root.querySelectorAll(tagName)].find((one) => one.name === name) : null;
}
