// `Save: SVG PNG CSV LaTeX` of a chart or a table. Files are named by folder of results, section and measure.

import { el } from "./el.js";
import { picture } from "./picture.js";

const SHARP = 2; // pixels of the PNG to one of the page

/** Buttons that save what a chart or a table shows.
 *
 * id: of the section, and what of it; measure: if it shows one. title: what it holds.
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
