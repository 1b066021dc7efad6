// Charts and tables as files: SVG and PNG of what is drawn, CSV and LaTeX of the rows.

import { el, svg } from "./el.js";

const FONT = "'Segoe UI', Roboto, 'Noto Sans', Helvetica, Arial, sans-serif";
const ENDS = { left: "start", center: "middle", right: "end" };

/** A stand-in for the context of a canvas of this size; `drawing` is the svg element. `measure` is a real context. */
export class Pen {
  constructor(width, height, measure) {
    this.drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    this.measure = measure;
    this.lineWidth = 1;
    this.beginPath();
  }

  set font(value) {
    this.measure.font = value;
    this.size = parseFloat(value);
  }

  measureText(text) {
    return this.measure.measureText(text);
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${near(x)} ${near(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${near(x)} ${near(y)}`;
  }

  arc(x, y, r) {
    this.path += `M${near(x - r)} ${near(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }

  stroke() {
    this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle });
  }

  fillRect(x, y, width, height) {
    this.add("rect", { x: near(x), y: near(y), width: near(width), height: near(height), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { x: near(x), y: near(y), width: near(width), height: near(height), fill: "none", stroke: this.strokeStyle });
  }

  fillText(text, x, y) {
    const node = svg("text", { x: near(x), y: near(y + 0.35 * this.size), "text-anchor": ENDS[this.textAlign], fill: this.fillStyle }, text);
    node.setAttribute("font-family", FONT);
    node.setAttribute("font-size", `${this.size}px`);
    this.drawing.append(node);
  }

  add(tag, props) {
    this.drawing.append(svg(tag, props));
  }
}

function near(value) {
  return Math.round(value * 100) / 100;
}

const NS = "http://www.w3.org/2000/svg";
const FONTS = { serif: "Georgia, 'Noto Serif', serif", sans: "'Segoe UI', Roboto, 'Noto Sans', Helvetica, Arial, sans-serif" };
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "text-anchor", "font-size", "font-weight"];
const SKIPPED = ".unseen, .controls, .under, select, input, noscript, title";
const PAD = 8;
const vectors = new WeakMap(); // canvases that can draw themselves as SVG
const pen = document.createElement("canvas").getContext("2d");

/** Remember how a canvas draws itself as SVG; `draw` returns an svg element. */
export function drawsAs(canvas, draw) {
  vectors.set(canvas, draw);
}

/** What `root` shows as { text, width, height } of an SVG file; `title` is its title. */
export function picture(root, title) {
  const scrolls = [...root.querySelectorAll(".scroll"), root.closest(".scroll")].filter(Boolean)
    .map((one) => [one, one.scrollLeft, one.scrollTop]);
  for (const [one] of scrolls) one.scrollTo(0, 0);
  root.classList.add("light", "pictured");
  try {
    const vector = vectors.get(root)?.();
    const frame = vector
      ? { left: 0, top: 0, width: Number(vector.getAttribute("width")), height: Number(vector.getAttribute("height")) }
      : root.getBoundingClientRect();
    const origin = { x: frame.left - PAD, y: frame.top - PAD };
    const [width, height] = [Math.ceil(frame.width + 2 * PAD), Math.ceil(frame.height + 2 * PAD)];
    const drawn = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      svg("title", {}, title),
      svg("defs", {}, hatch(getComputedStyle(root))),
      svg("rect", { width, height, fill: "#ffffff" }));
    drawn.setAttribute("font-family", FONTS.sans);
    if (vector) drawn.append(placed(vector, { x: PAD, y: PAD }));
    else add(root, drawn, origin, []);
    return { text: `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawn)}\n`, width, height };
  } finally {
    root.classList.remove("light", "pictured");
    for (const [one, left, top] of scrolls) one.scrollTo(left, top);
  }
}

function hatch(style) {
  const line = svg("path", { d: "M-1 1l2-2M0 6l6-6M5 7l2-2", stroke: style.getPropertyValue("--soft").trim() });
  const pattern = svg("pattern", { id: "hatch", width: 6, height: 6 }, line);
  pattern.setAttribute("patternUnits", "userSpaceOnUse");
  return pattern;
}

/** Draw an element into `drawn`; `cuts` are the boxes above it that cut what reaches beyond them. */
function add(element, drawn, origin, cuts) {
  if (element.matches(SKIPPED) || !element.checkVisibility()) return;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const at = { x: box.left - origin.x, y: box.top - origin.y, width: box.width, height: box.height };
  if (element instanceof SVGSVGElement) return drawn.append(copied(element, at));
  if (element instanceof HTMLCanvasElement) return drawn.append(ofCanvas(element, at));
  drawBox(style, at, drawn);
  const within = style.textOverflow === "ellipsis" && style.overflowX !== "visible" ? [...cuts, box] : cuts;
  for (const child of element.childNodes)
    if (child instanceof Text) drawText(child, style, drawn, origin, within);
    else if (child instanceof Element) add(child, drawn, origin, within);
}

function drawBox(style, { x, y, width, height }, drawn) {
  const [paint, shade] = colour(style.backgroundColor);
  const isHatched = style.backgroundImage.startsWith("repeating-linear-gradient");
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => {
    const wide = style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]);
    return { wide, colour: colour(style[`border${side}Color`]) };
  }).map(({ wide, colour: [stroke, alpha] }) => ({ wide: alpha ? wide : 0, stroke }));
  const isFramed = sides.every(({ wide, stroke }) => wide && stroke === sides[0].stroke);
  const half = isFramed ? sides[0].wide / 2 : 0;
  if (shade || isFramed || isHatched)
    drawn.append(svg("rect", {
      x: round(x + half), y: round(y + half), width: round(width - 2 * half), height: round(height - 2 * half),
      fill: isHatched ? "url(#hatch)" : shade ? paint : "none",
      ...(isFramed ? { stroke: sides[0].stroke } : {}),
      ...rounded(style),
    }));
  if (isFramed) return;
  const ends = [[x, y, x + width, y], [x + width, y, x + width, y + height], [x, y + height, x + width, y + height], [x, y, x, y + height]];
  sides.forEach(({ wide, stroke }, i) => {
    const [x1, y1, x2, y2] = ends[i].map(round);
    if (wide) drawn.append(svg("line", { x1, y1, x2, y2, stroke }));
  });
}

function rounded(style) {
  const radius = parseFloat(style.borderTopLeftRadius) || 0;
  return radius ? { rx: radius } : {};
}

/** A text node line by line, each as wide as it is here, whatever the font it is shown in. */
function drawText(node, style, drawn, origin, cuts) {
  if (!node.data.trim()) return;
  const isUpright = style.writingMode.startsWith("vertical");
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = pen.measureText("x");
  for (const { text, rect } of lines(node)) {
    const ends = cuts.map((cut) => (isUpright ? cut.height : cut.right - rect.left));
    const room = Math.min(isUpright ? rect.height : rect.width, ...ends);
    const [words, length] = fitted(text, room);
    const along = isUpright ? rect.left + (rect.width - ascent - descent) / 2 : rect.top + (rect.height - ascent - descent) / 2;
    const [x, y] = isUpright
      ? [along + ascent - origin.x, Math.min(rect.bottom, ...cuts.map((cut) => cut.bottom)) - origin.y]
      : [rect.left - origin.x, along + ascent - origin.y];
    const line = svg("text", {
      x: round(x), y: round(y), fill: colour(style.color)[0],
      transform: isUpright ? `rotate(-90 ${round(x)} ${round(y)})` : null,
    }, words);
    const looks = { "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle };
    if (style.fontFamily.includes("Georgia")) looks["font-family"] = FONTS.serif;
    if (length > 4) Object.assign(looks, { textLength: round(length), lengthAdjust: "spacingAndGlyphs" });
    for (const [name, value] of Object.entries(looks)) if (value !== "normal" && value !== "400") line.setAttribute(name, value);
    drawn.append(line);
  }
}

/** The lines of a text node as { text, rect }. */
function lines(node) {
  const range = document.createRange();
  const found = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const [rect] = range.getClientRects();
    if (!rect) continue;
    const last = found.at(-1);
    const isSame = last && Math.abs(last.rect.top - rect.top) < 2 && Math.abs(last.rect.right - rect.left) < 40;
    if (isSame) range.setStart(node, last.index);
    const whole = isSame ? range.getClientRects()[0] : rect;
    if (isSame && range.getClientRects().length === 1)
      Object.assign(last, { text: node.data.slice(last.index, index + word.length).replaceAll(/\s+/g, " "), rect: whole });
    else found.push({ text: word, rect, index });
  }
  return found;
}

/** As much of a text as has room, and how long it is. */
function fitted(text, room) {
  const full = pen.measureText(text).width;
  if (full <= room + 1) return [text, room];
  const points = [...text];
  while (points.length > 1 && pen.measureText(`${points.join("")}…`).width > room) points.pop();
  return [`${points.join("")}…`, pen.measureText(`${points.join("")}…`).width];
}

/** An SVG of the page with its styles written into it. */
function copied(source, { x, y, width, height }) {
  const copy = source.cloneNode(true);
  const from = [source, ...source.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of [...one.getAttributeNames()])
      if (["class", "role", "tabindex", "href", "style"].includes(name) || name.startsWith("aria-") || name.startsWith("data-")) one.removeAttribute(name);
    for (const name of DRAWN) {
      const value = style.getPropertyValue(name);
      if (one !== copy && value) one.setAttribute(name, /^(?:rgb|color)\(|^rgba\(/.test(value) ? painted(value) : value);
    }
  });
  for (const link of copy.querySelectorAll("a")) {
    const group = document.createElementNS(NS, "g");
    group.append(...link.childNodes);
    link.replaceWith(group);
  }
  placed(copy, { x, y, width, height });
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${round(width)} ${round(height)}`);
  return copy;
}

function ofCanvas(canvas, { x, y, width, height }) {
  if (vectors.has(canvas)) return placed(vectors.get(canvas)(), { x, y });
  const image = placed(document.createElementNS(NS, "image"), { x, y, width, height });
  image.setAttribute("href", canvas.toDataURL());
  return image;
}

function placed(element, place) {
  for (const [name, value] of Object.entries(place)) element.setAttribute(name, round(value));
  return element;
}

function painted(value) {
  const [hex, alpha] = colour(value);
  return alpha ? hex : "none";
}

/** [#rrggbb on white, opacity] of a computed colour. */
function colour(text) {
  const numbers = (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? [0, 0, 0, 0]).map(Number);
  const [red, green, blue, alpha = 1] = text.startsWith("color(") ? [...numbers.slice(0, 3).map((n) => 255 * n), numbers[3]] : numbers;
  const hex = [red, green, blue].map((n) => Math.round(255 + (n - 255) * alpha).toString(16).padStart(2, "0"));
  return [`#${hex.join("")}`, alpha];
}

function round(value) {
  return Math.round(value * 100) / 100;
}

const SHARP = 2; // pixels of the PNG to one of the page

/** Buttons that save what a chart or a table shows.
 *
 * id: the section, and the part of it; measure: if it shows one. title: what it holds.
 * drawn(): the element that SVG and PNG draw. rows(isPrinted): the head and the rows, with all digits, or as texts
 * that can be printed; a chart without rows of its own leaves it out.
 */
export function saves({ id, measure = "", title, drawn, rows = null }) {
  const name = (ending) => `${[document.documentElement.dataset.results, id.replaceAll(".", "-"), measure].filter(Boolean).join("-").replaceAll(/[^\p{L}\p{N}._@+-]+/gu, "_")}.${ending}`;
  const whole = () => picture(drawn(), title);
  const kinds = [
    ["SVG", () => give(name("svg"), new Blob([whole().text], { type: "image/svg+xml" }))],
    ["PNG", async () => give(name("png"), await bitmap(whole()))],
  ];
  if (rows)
    kinds.push(
      ["CSV", () => give(name("csv"), new Blob([csv(rows(false))], { type: "text/csv" }))],
      ["LaTeX", () => give(name("tex"), new Blob([latex(title, rows(true))], { type: "application/x-tex" }))],
    );
  return el("span", { class: "saves" }, "Save: ", kinds.map(([kind, onclick]) => [
    el("button", { type: "button", class: "quiet", title: `Save as ${name(kind.toLowerCase().replace("latex", "tex"))}`, onclick }, kind), " "]));
}

/** A button that saves rows, the first of them the head, as CSV. */
export function download(name, rows) {
  return el("button", { type: "button", class: "quiet",
    onclick: () => give(name, new Blob([csv(rows())], { type: "text/csv" })) }, `Save as ${name}`);
}

/** What is read of a cell. */
export function textOf(content) {
  if (!(content instanceof Node)) return String(content ?? "");
  const copy = content.cloneNode(true);
  for (const one of copy.querySelectorAll?.("svg, .unseen") ?? []) one.remove();
  return copy.textContent;
}

function give(name, blob) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

async function bitmap({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`; // a page's policy lets it load nothing else
  await image.decode();
  const canvas = el("canvas");
  [canvas.width, canvas.height] = [SHARP * width, SHARP * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Rows as RFC 4180 has them. */
export function csv(rows) {
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

function field(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  const plain = /^\s*[=+\-@]|^[\t\r]/.test(text) ? `'${text}` : text; // no formula of a spreadsheet
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}",
  "|": "\\textbar{}", '"': "\\textquotedbl{}", "−": "$-$", "–": "--", "±": "$\\pm$", "▲": "", "▼": "",
};

/** Text that LaTeX sets as it is. */
function escaped(value) {
  const text = value === null || value === undefined ? "--" : String(value);
  return [...text.replaceAll(/\s+/g, " ").trim()].map((one) => LATEX[one] ?? ("&%$#_{}".includes(one) ? `\\${one}` : one)).join("");
}

/** A table of the booktabs package; columns of numbers are flush right. */
export function latex(title, [head, ...rows]) {
  const isNumber = (text) => text === null || text === undefined || /^[^\p{L}]*$/u.test(String(text));
  const sides = head.map((_, i) => (i && rows.every((row) => isNumber(row[i])) ? "r" : "l")).join("");
  const line = (row) => `${row.map(escaped).join(" & ")} \\\\`;
  return [
    "\\begin{table}", "\\centering", `\\caption{${escaped(title)}}`, `\\begin{tabular}{${sides}}`, "\\toprule", line(head), "\\midrule",
    ...rows.map(line), "\\bottomrule", "\\end{tabular}", "\\end{table}", "",
  ].join("\n");
}
