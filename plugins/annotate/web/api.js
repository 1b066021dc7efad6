// What the page asks of the server, and what it sends. What is sent is kept here until it is on the server's disk.

import { forget, stored, store } from "./unsent.js";

const PATIENCE_MS = 10_000; // then the server counts as gone
const WAITS_MS = [500, 1000, 2000, 5000]; // between tries; the last again and again
const FOREVER = [400, 404, 405, 410, 413, 415]; // the event is wrong: no later try can help

/** The API: get(name, params), wait(name, params), send(event), onState(listener), task. */
export async function connect() {
  const api = new Api();
  api.task = await api.get("task");
  api.progress = api.task.progress ?? null;
  api.resume();
  return api;
}

/** An answer that is an error; `status` 0: there was none. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

class Api {
  task = null;
  progress = null; // { done, total, active_ms } as the server last gave it
  #items = new Map(); // names of items by their positions, and of disputes by theirs
  #queue = []; // { key, event, done, failed }, in the order of the actions
  #listeners = new Set();
  #isSending = false;
  #nTaken = 0; // events that the server took
  #trouble = ""; // why nothing is sent at present
  #refused = []; // what will never be taken, and why
  #waits = new Set(); // what ends each wait for a next try

  /** What the server answers to this name, such as get("item", { n: 3 }). */
  async get(name, params = {}) {
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== null && value !== undefined));
    const before = this.#nTaken;
    const answer = await this.#asked(`/api/${name}${query.size ? `?${query}` : ""}`, {});
    this.#learn(name, answer);
    const isLatest = before === this.#nTaken; // else the server may have answered before it took an event
    if (isLatest && answer.progress && "done" in answer.progress) this.#update(answer.progress);
    return answer;
  }

  /** As `get`, again and again for as long as no server answers, or it wants its new link. */
  async wait(name, params) {
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await this.get(name, params);
        if (tries && !this.#queue.length) this.#trouble = "";
        this.#tell();
        return answer;
      } catch (error) {
        if (error.status !== 0 && error.status !== 401) throw error;
        await this.#later(error, tries);
      }
    }
  }

  /** Tell of an action: { do, n, ... }. What is returned comes when the server has it on its disk.
   *
   * Until then it is kept here, and in this browser's storage, so that neither a server that is gone nor a page that
   * is closed loses it. Actions are sent one after the other, in their order.
   */
  send(event) {
    const names = event.do === "adjudicate" ? "dispute" : "item";
    const item = event.item ?? this.#items.get(`${names} ${event.n}`);
    const whole = { ...event, id: event.id ?? crypto.randomUUID(), ...(item ? { item } : {}) };
    const key = store(this.#session(), whole);
    return new Promise((done, failed) => {
      this.#queue.push({ key, event: whole, done, failed });
      this.#tell();
      this.#drain();
    });
  }

  /** Call `listener({ unsent, trouble, refused, progress })` now and whenever one of them changes; returns what ends that. */
  onState(listener) {
    this.#listeners.add(listener);
    listener(this.#state());
    return () => this.#listeners.delete(listener);
  }

  /** Send what an earlier page could not. */
  resume() {
    const ids = new Set(this.#queue.map(({ event }) => event.id));
    for (const { key, event } of stored(this.#session()))
      if (!ids.has(event.id)) this.#queue.push({ key, event, done() {}, failed() {} });
    this.#tell();
    this.#drain();
  }

  /** Try again now. */
  retry() {
    for (const end of this.#waits) end();
  }

  #session() {
    const { fingerprint, kind, condition, annotator } = this.task;
    return [fingerprint, kind, condition, annotator].join(" ");
  }

  #learn(name, answer) {
    const list = name === "dispute" ? "dispute" : "item";
    for (const one of [answer, ...(Array.isArray(answer.items) ? answer.items : [])])
      if (one.item) this.#items.set(`${list} ${one.n}`, one.item);
  }

  async #drain() {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let tries = 0; this.#queue.length; ) {
      const [first] = this.#queue;
      try {
        const body = JSON.stringify(first.event, (_, value) => (typeof value === "string" ? wellFormed(value) : value));
        const answer = await this.#asked("/api/event", { method: "POST", body });
        this.#queue.shift();
        forget(first.key);
        tries = 0;
        this.#trouble = "";
        this.#nTaken += 1;
        if (answer.progress) this.progress = answer.progress;
        first.done(answer);
      } catch (error) {
        if (FOREVER.includes(error.status)) {
          this.#queue.shift();
          forget(first.key);
          this.#refused.push({ event: first.event, why: error.message });
          first.failed(error);
        } else {
          await this.#later(error, tries);
          tries += 1;
        }
      }
      this.#tell();
    }
    this.#isSending = false;
  }

  /** Say what is wrong, and wait for the next try. */
  #later(error, tries) {
    this.#trouble = explained(error);
    this.#tell();
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        this.#waits.delete(end);
        done();
      };
      const timer = setTimeout(end, WAITS_MS[Math.min(tries, WAITS_MS.length - 1)]);
      this.#waits.add(end);
    });
  }

  async #asked(address, { method = "GET", body }) {
    const headers = { "X-Judge": this.task?.annotator ?? "" };
    if (!headers["X-Judge"]) delete headers["X-Judge"];
    if (body) headers["Content-Type"] = "application/json";
    let response;
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      response = await fetch(address, { method, body, headers, signal, keepalive: Boolean(body), credentials: "same-origin" });
    } catch {
      throw new Refused(0, "the server does not answer");
    }
    const text = await response.text();
    let answer;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = null;
    }
    if (!response.ok || answer === null) throw new Refused(response.status, answer?.error ?? text.trim());
    return answer;
  }

  #update(progress) {
    const before = JSON.stringify(this.progress);
    this.progress = progress;
    if (before !== JSON.stringify(progress)) this.#tell();
  }

  #state() {
    return { unsent: this.#queue.length, trouble: this.#trouble, refused: [...this.#refused], progress: this.progress };
  }

  #tell() {
    for (const listener of this.#listeners) listener(this.#state());
  }
}

function explained({ status, message }) {
  if (status === 401) return "The server was restarted: open the new link in this browser.";
  if (status) return `The server says: ${message}`;
  return "The server does not answer. If it was stopped, start the same command again and open the new link.";
}

/** Text without halves of characters, which JSON of other programs cannot have. */
function wellFormed(text) {
  return text.toWellFormed ? text.toWellFormed() : text;
}
