// Elements made of text and listed attributes: nothing that stands in the data can become markup.

const NAMES = new Set([
  "class", "id", "title", "role", "scope", "type", "value", "name", "for", "tabindex", "colspan", "rowspan",
  "checked", "selected", "disabled", "hidden", "open", "placeholder", "lang", "download", "width", "height",
  "min", "max", "rel", "list", "autocomplete", "spellcheck",
  "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "fill", "stroke", "points", "transform",
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
    mark.title = "a character that cannot be seen";
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

/** As Python and the terminal round: halves to the even digit. */
function rounded(value, digits) {
  const halves = value * 2 ** (digits + 1); // odd where the value lies between two numbers of so many digits
  if (halves % 2 !== 1) return value.toFixed(digits);
  const below = (halves * 5 ** digits - 1) / 2;
  return ((below + (below % 2)) / 10 ** digits).toFixed(digits);
}

/** A count with thousands apart; the plural of `noun`, if given, as English has it. */
export function count(n, noun = "", plural = `${noun}s`) {
  const text = n.toLocaleString("en-US");
  return noun ? `${text} ${n === 1 ? noun : plural}` : text;
}
