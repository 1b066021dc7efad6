// A part of the page as a standalone SVG: its boxes, lines and texts where they stand, in light colours.

import { svg } from "./el.js";

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
