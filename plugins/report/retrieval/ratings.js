// The ratings of a topic: a row a passage, a column a sub-question, 0 to 5; hatched where none came.

import { count, el } from "../web/el.js";
import { saves } from "../web/save.js";
import { scroller } from "../web/scroller.js";

const MOST = 200; // passages that are drawn
const LOST = "?";

/** The rating matrix of a topic: what is required first, then by how much each passage answers. */
export function matrix(folder, topic, run) {
  const { passages, ratings, required, questions, answerable, n_missing: missing } = folder.topics[topic];
  const own = folder.runs[run]?.[topic]?.passages ?? [];
  const order = new Map(required.map((name, i) => [name, i]));
  const answers = (i) => [...ratings[i]].filter((rating) => rating !== LOST && Number(rating) >= folder.eta).length;
  const rows = passages.map((_, i) => i).sort((a, b) =>
    (order.get(passages[a]) ?? Infinity) - (order.get(passages[b]) ?? Infinity) || answers(b) - answers(a) || a - b);
  const drawn = el("table", { class: "ratings" }, el("caption", { class: "unseen" },
      `Ratings of passages for the sub-questions of ${topic}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "passage"),
        questions.map((text, j) => el("th", { scope: "col", title: text }, j + 1,
          answerable[j] === 0 ? el("small", { title: "no passage of the pool answers it" }, " –") : null)))),
      el("tbody", {}, rows.slice(0, MOST).map((i) => el("tr", {},
        el("th", { scope: "row" }, passages[i],
          order.has(passages[i]) ? el("span", { class: "tag" }, `required ${order.get(passages[i]) + 1}`) : null,
          own.includes(passages[i]) ? el("span", { class: "tag" }, `rank ${own.indexOf(passages[i]) + 1}`) : null),
        [...ratings[i]].map((rating) => el("td", {}, rating === LOST
          ? el("i", { class: "lost", title: "not judged" }, "?")
          : el("i", { class: `r${rating}` }, rating)))))));
  return [
    el("h3", {}, `Ratings of ${count(passages.length, "passage")}`),
    el("p", { class: "lead" },
      `Required are the passages that together answer every answerable sub-question, in the order in which they were `
        + `taken. ${missing ? `Hatched: ${count(missing, "rating")} did not arrive.` : "Every rating arrived."}`
        + `${rows.length > MOST ? ` The first ${count(MOST)} are drawn.` : ""}`),
    el("figure", { class: "table" }, scroller("Ratings", { class: "fit" }, drawn),
      el("p", { class: "under" }, saves({ id: `coverage.ratings-${topic}`, title: `Ratings of passages for the sub-questions of ${topic}`,
        drawn: () => drawn, rows: () => [["passage", ...questions], ...rows.map((i) => [passages[i], ...ratings[i]])] }))),
  ];
}
