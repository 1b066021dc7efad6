// Texts of answers, packed by topic, opened when they are wanted.

import { inflated } from "../web/inflate.js";

let index = null;
const opened = new Map();

/** Where texts are: { topics: by topic, numbers of islands, left }. */
export async function textIndex() {
  if (document.readyState === "loading")
    await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  const island = document.getElementById("texts");
  index ??= island ? JSON.parse(island.textContent) : { topics: {}, left: {} };
  return index;
}

/** The answers to a topic: { question, answers, by run, each with its `items` and `passages` }; null without texts. */
export async function answersTo(topic) {
  const { topics } = await textIndex();
  if (!Object.hasOwn(topics, topic)) return null;
  if (!opened.has(topic)) {
    const parts = await Promise.all(topics[topic].map(opening));
    const answers = new Map();
    for (const { items, passages, answers: ofPart } of parts)
      for (const [run, answer] of Object.entries(ofPart)) answers.set(run, { ...answer, items, passages });
    if (opened.size > 8) opened.delete(opened.keys().next().value);
    opened.set(topic, { question: parts.find((part) => part.question)?.question ?? "", answers });
  }
  return opened.get(topic);
}

async function opening(number) {
  return JSON.parse(await inflated(document.getElementById(`texts-${number}`).textContent));
}
