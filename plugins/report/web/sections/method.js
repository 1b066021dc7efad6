// Can it be cited.

import { el } from "../el.js";
import { table } from "../table.js";

export const keys = [];

/** See page.js. */
export function draw({ id, data }) {
  const text = (key, label = key) => ({ key, label, isText: true, value: (row) => row[key] });
  const wrapped = (key, label) => ({ ...text(key, label), cell: (row) => el("span", { class: "wrapped" }, row[key]) });
  return [
    el(
      "p",
      { class: "lead" },
      "What each number means, which judges used which prompts, which files were read, and how to reproduce the results. ",
      "The glossary (docs/learn/glossary.md) explains the terms.",
    ),
    el("h3", {}, "The measures"),
    table({
      id: `${id}.measures`,
      of: id,
      caption: "Measures",
      rows: data.measures,
      columns: [text("measure"), wrapped("meaning", "meaning")],
    }),
    el("h3", {}, "How the numbers are computed"),
    table({
      id: `${id}.numbers`,
      of: id,
      caption: "How the numbers are computed",
      rows: data.numbers,
      columns: [text("name", "number"), wrapped("how", "how it is computed")],
    }),
    ...data.folders.flatMap((folder, i) => ofFolder(id, folder, i, data.folders.length > 1, text)),
    el("h3", {}, "To cite"),
    el(
      "ul",
      {},
      el("li", {}, data.package),
      data.papers.map(({ title, url }) =>
        el("li", {}, `${title}, `, el("a", { href: url, rel: "noreferrer" }, url.replace("https://", ""))),
      ),
    ),
  ];
}

function ofFolder(id, folder, i, isNamed, text) {
  const name = (what) => `${id}.${what}${i || ""}`;
  const of = isNamed ? `, ${folder.folder}` : "";
  const code = (key, label) => ({
    ...text(key, label),
    cell: (row) => el("code", { class: "wrapped" }, row[key] ?? "–"),
  });
  const plain = (key, label = key) => ({ ...text(key, label), cell: (row) => String(row[key] ?? "–") });
  return [
    el("h3", {}, `The judges${of}`),
    table({
      id: name("judges"),
      of: id,
      caption: `Judges${of}`,
      rows: folder.judges,
      columns: [
        text("name", "judge"),
        plain("judge", "class"),
        plain("version"),
        plain("model"),
        plain("temperature"),
        plain("window"),
        code("prompts", "hashes of its prompts"),
      ],
    }),
    el("h3", {}, `The judged files${of}`),
    table({
      id: name("inputs"),
      of: id,
      caption: `Inputs${of}`,
      rows: folder.inputs,
      columns: [
        { ...text("file"), cell: (row) => el("span", { class: "wrapped" }, row.file) },
        text("now", "state when this page was written"),
        code("sha256", "SHA-256"),
      ],
    }),
    el("h3", {}, `How to reproduce${of}`),
    el("pre", {}, el("code", {}, folder.commands.join("\n"))),
    el(
      "p",
      { class: "lead" },
      `Fingerprint of inputs and settings: ${folder.fingerprint}. Versions: ` +
        `${folder.versions.map(({ package: one, version }) => `${one} ${version}`).join(", ")}.`,
    ),
    el("details", {}, el("summary", {}, "The whole config"), el("pre", {}, el("code", {}, folder.config))),
  ];
}
