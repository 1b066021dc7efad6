// Where do runs fail, and which topics are hard: a map of runs by topics, one picture on a canvas, and a table.

import { count, el, num, say } from "../el.js";
import { UNANSWERED, UNDEFINED, UNJUDGED, cellsOf, choice, counted, has, measureOf, reasonText, spread, unknown } from "../runs.js";
import { Pen, drawsAs, saves } from "../save.js";
import { get, go, link } from "../state.js";
import { again, ordered, table } from "../table.js";

const [MEANS, HEAD, ROW] = [56, 22, 18]; // pixels: of means, above, a row
const [MIN_WIDTH, MAX_WIDTH] = [4, 96]; // of a column

/** A heat map with a cursor that arrow keys move; `open(run, topic)` is called by click and Enter.
 *
 * Returns { chosen(run, topic) }, its figure with the cursor there.
 */
export function heatmap({ id, head, cells, measure, digits, runs, topics, open }) {
  const canvas = el("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label":
      `${measure} of ${runs.length} runs on ${topics.length} topics; the table by topic below says the same. ` +
      "Arrow keys move, Enter opens.",
  });
  const under = el("p", { class: "pointed" }, "");
  const most = Math.max(cells.values.at(-1) ?? 1, digits ? 1 : 0);
  const low = Math.min(0, cells.values[0] ?? 0);
  const share = (value) => (value - low) / (most - low || 1);
  const state = { at: [0, 0], isOn: false, column: MAX_WIDTH, names: 200 };
  const base = el("canvas"); // the map without its cursor
  const paint = () => {
    drawAll(canvas, { cells, runs, topics, share, digits, state });
    [base.width, base.height] = [canvas.width, canvas.height];
    if (base.width && base.height) base.getContext("2d")?.drawImage(canvas, 0, 0);
    point();
  };
  drawsAs(canvas, () => drawAll(canvas, { cells, runs, topics, share, digits, state, isVector: true }));
  const point = () => {
    const context = base.width && base.height ? canvas.getContext("2d") : null;
    if (!context) return;
    context.save();
    context.resetTransform();
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(base, 0, 0);
    context.restore();
    if (!state.isOn) return;
    context.strokeStyle = getComputedStyle(canvas).getPropertyValue("--accent").trim();
    context.lineWidth = 2;
    const [x, y] = [state.names + state.at[1] * state.column, HEAD + state.at[0] * ROW];
    context.strokeRect(x - 1, y - 1, state.column + 1, ROW + 1);
  };
  const describe = (isSpoken) => {
    const [row, column] = state.at;
    const [{ run, name }, { topic, name: where }] = [runs[row], topics[column]];
    const value = cells.value(run, topic);
    const text = `${name}, ${where}: ${value === null ? reasonText(cells.why(run, topic)) : num(value, digits)}`;
    under.textContent = text;
    if (isSpoken) say(text);
  };
  const cellAt = (event) => {
    const column = Math.floor((event.offsetX - state.names) / state.column);
    const row = Math.floor((event.offsetY - HEAD) / ROW);
    return row >= 0 && row < runs.length && column >= 0 && column < topics.length ? [row, column] : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const hit = cellAt(event);
    canvas.classList.toggle("over", hit !== null);
    if (!hit || (state.isOn && hit.join() === state.at.join())) return;
    [state.at, state.isOn] = [hit, true];
    point();
    describe(false);
  });
  canvas.addEventListener("click", (event) => {
    const hit = cellAt(event);
    if (hit) open(runs[hit[0]].run, topics[hit[1]].topic);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") open(runs[state.at[0]].run, topics[state.at[1]].topic);
    else if (!by) return;
    else {
      const most_ = [runs.length - 1, topics.length - 1];
      state.at = state.at.map((index, i) => Math.min(most_[i], Math.max(0, index + (state.isOn ? by[i] : 0))));
      state.isOn = true;
      point();
      describe(true);
    }
    event.preventDefault();
  });
  const box = el(
    "div",
    { class: "scroll map", role: "region", "aria-label": `Heat map of ${measure}`, tabindex: "-1" },
    canvas,
  );
  if (runs.length && topics.length) {
    new ResizeObserver(paint).observe(box);
    repaint(canvas, paint);
  }
  const figure = el("figure", { id: `${id}-map` }, box, under);
  /** The map with the cursor on a run and a topic, by their names. */
  const chosen = (run, topic) => {
    const indices = [runs.findIndex(({ name }) => name === run), topics.findIndex(({ name }) => name === topic)];
    state.at = indices.map((index) => Math.max(0, index));
    state.isOn = indices.some((index) => index >= 0);
    point();
    return figure;
  };
  return { chosen };
}

/** A cell of the legend. */
export function sample({ share, why }) {
  const canvas = el("canvas", { class: "sample", "aria-hidden": "true" });
  const paint = () => {
    const context = sized(canvas, 18, 14);
    if (context) cell(context, tones(canvas), 0, 0, 18, 14, share ?? null, why);
  };
  queueMicrotask(paint);
  repaint(canvas, paint);
  return canvas;
}

/** Paint again when colours change: in another colour scheme and for print, which is light and may never have been on the screen. */
function repaint(canvas, paint) {
  const now = () => canvas.isConnected && paint();
  const print = (isPrinted) => () => {
    canvas.classList.toggle("light", isPrinted);
    now();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", now);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
}

function sized(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  canvas.style.setProperty("width", `${width}px`);
  canvas.style.setProperty("height", `${height}px`);
  const context = canvas.getContext("2d");
  context?.scale(scale, scale);
  return context;
}

function tones(canvas) {
  const style = getComputedStyle(canvas);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const ramp = [of("none"), of("part"), of("full")].map(channels);
  return {
    ramp,
    line: of("line"),
    soft: of("soft"),
    bad: of("bad"),
    ink: of("ink"),
    card: of("card"),
  };
}

function channels(colour) {
  const hex = colour.slice(1);
  const wide = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
  return [0, 2, 4].map((at) => parseInt(wide.slice(at, at + 2), 16));
}

function tone(ramp, share) {
  const [from, to, part] = share < 0.5 ? [ramp[0], ramp[1], share * 2] : [ramp[1], ramp[2], share * 2 - 1];
  const near = Math.min(1, Math.max(0, part));
  return `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * near)).join(" ")})`;
}

/** A value is a tone, not answered a stroke, not judged a hatch, not defined a blank with a dot. */
function cell(context, colours, x, y, width, height, share, why) {
  const gap = width > 8 ? 1 : 0;
  if (share !== null) {
    context.fillStyle = tone(colours.ramp, share);
    context.fillRect(x, y, width - gap, height - gap);
    if (share < 0.08 && gap) {
      context.strokeStyle = colours.line;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, width - gap - 1, height - gap - 1);
    }
    return;
  }
  context.strokeStyle = context.fillStyle = why === UNJUDGED ? colours.bad : colours.soft;
  context.lineWidth = 1;
  context.beginPath();
  if (why === UNJUDGED)
    for (let at = -height; at < width; at += 5) {
      const [from, to] = [Math.max(0, at), Math.min(width - gap, at + height)];
      context.moveTo(x + from, y + height - (from - at));
      context.lineTo(x + to, y + height - (to - at));
    }
  else if (why === UNANSWERED) {
    context.moveTo(x + width * 0.25, y + height / 2);
    context.lineTo(x + width * 0.75, y + height / 2);
  } else context.arc(x + width / 2, y + height / 2, 1, 0, 7);
  context.stroke();
}

function drawAll(canvas, { cells, runs, topics, share, digits, state, isVector = false }) {
  const width = canvas.parentElement?.clientWidth || 900;
  const font = "12px system-ui, sans-serif";
  const longest = widest(canvas, font, ["mean", ...runs.map(({ name }) => name)]);
  const names = (state.names = Math.min(width > 600 ? 200 : 110, longest + 20));
  const room = width - names - MEANS - 2;
  state.column = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, room / topics.length));
  const { column } = state;
  const right = names + topics.length * column;
  const size = [right + MEANS, HEAD + (runs.length + 2) * ROW];
  const context = isVector ? new Pen(...size, el("canvas").getContext("2d")) : sized(canvas, ...size);
  if (!context) return null;
  const colours = tones(canvas);
  context.font = font;
  context.textBaseline = "middle";
  const put = (text, x, y, align = "right", colour = colours.ink) => {
    [context.textAlign, context.fillStyle] = [align, colour];
    context.fillText(text, x, y);
  };
  put("mean", right + MEANS - 8, HEAD / 2, "right", colours.soft);
  runs.forEach(({ run, name, mean }, row) => {
    const y = HEAD + row * ROW;
    put(fitted(context, name, names - 12), names - 8, y + ROW / 2);
    topics.forEach(({ topic }, at) => {
      const value = cells.value(run, topic);
      cell(
        context,
        colours,
        names + at * column,
        y,
        column,
        ROW,
        value === null ? null : share(value),
        cells.why(run, topic),
      );
    });
    put(num(mean, digits), right + MEANS - 8, y + ROW / 2);
  });
  const below = HEAD + runs.length * ROW;
  put("mean", names - 8, below + ROW, "right", colours.soft);
  const prefix = shared(topics.map(({ name }) => name));
  topics.forEach(({ mean, name }, at) => {
    const x = names + at * column;
    if (mean !== null) cell(context, colours, x, below + ROW / 2, column, ROW, share(mean));
    if (column >= 40)
      put(fitted(context, name.slice(prefix), column - 4), x + column / 2, HEAD / 2, "center", colours.soft);
  });
  return context.drawing ?? null;
}

/** How many characters all names begin with, up to their last separator. */
function shared(names) {
  let n = 0;
  while (names.length > 1 && names.every((name) => n < name.length && name[n] === names[0][n])) n += 1;
  return names[0].slice(0, n).search(/[-_.:/][^-_.:/]*$/) + 1;
}

function widest(canvas, font, names) {
  const context = canvas.getContext("2d");
  if (!context) return 0;
  context.font = font;
  return Math.ceil(Math.max(...names.map((name) => context.measureText(name).width)));
}

function fitted(context, text, width) {
  let name = text;
  while (name.length > 1 && context.measureText(name).width > width)
    name = name.endsWith("…") ? `${name.slice(0, -2)}…` : `${name.slice(0, -1)}…`;
  return name;
}

export const keys = ["measure", "run", "topic"];

const ORDERS = { mean: "by mean", spread: "by spread", given: "as given" };

/** See page.js. */
export function draw(view) {
  const { id, data, head } = view;
  const measure = measureOf(head, head.measures);
  const cells = cellsOf(head, measure);
  const { runs, topics } = view.once("means", measure, () => described(head, data, cells, measure));
  const by = Object.hasOwn(ORDERS, get(`${id}.by`)) ? get(`${id}.by`) : "mean";
  const sorted = {
    runs: inOrder(runs, by),
    topics: inOrder(topics, by),
  };
  const digits = (cells.values.at(-1) ?? 1) > 20 ? 0 : 3;
  const least = data.less_is_better.includes(measure) ? " (lower is better)" : "";
  const map = view
    .once("map", `${by} ${measure}`, () =>
      heatmap({
        id,
        head,
        cells,
        measure,
        digits,
        runs: sorted.runs,
        topics: sorted.topics,
        open: (run, topic) => open(id, head, measure, run, topic),
      }),
    )
    .chosen(get("run"), get("topic"));
  return [
    el(
      "div",
      { class: "controls" },
      choice(id, "measure", "Measure", head.measures, measure),
      el(
        "label",
        {},
        "Order",
        el(
          "select",
          { name: "order", onchange: (event) => go(id, { [`${id}.by`]: event.target.value }) },
          Object.entries(ORDERS).map(([key, words]) => el("option", { value: key, selected: key === by }, words)),
        ),
      ),
    ),
    ...unknown(head, head.measures, () => ""),
    el(
      "p",
      { class: "lead" },
      `Each row is a run, each column a topic. A stronger colour is a higher ${measure}${least}. ` +
        `Topics are ordered ${ORDERS[by]}; means are on the right and below. ` +
        "Choose a cell (click, or arrow keys and Enter) to see the facts behind it.",
    ),
    view.once("legend", measure, () => legend(cells, digits)),
    map,
    el("p", { class: "lead" }, summary(runs, topics, measure, digits)),
    el(
      "p",
      { class: "under" },
      saves({
        id: `${id}.map`,
        measure,
        title: `${measure} by run and topic`,
        drawn: () => map.querySelector("canvas"),
        rows: (isPrinted) => [
          ["run", ...sorted.topics.map((one) => one.name)],
          ...sorted.runs.map(({ run, name }) => [
            name,
            ...sorted.topics.map(({ topic }) => {
              const value = cells.value(run, topic);
              return value === null ? reasonText(cells.why(run, topic)) : isPrinted ? num(value, digits) : value;
            }),
          ]),
        ],
      }),
    ),
    el("h3", {}, "By topic"),
    again(view.once("list", measure, () => list(id, head, measure, topics, digits, data.questions))),
  ];
}

/** Runs and topics with their means and spreads. */
function described(head, data, cells, measure) {
  const of = (run, topic) => counted(cells, run, topic);
  const runs = cells.runs.map((run) => ({
    run,
    name: head.runs[run],
    ...spread(cells.topics.map((topic) => of(run, topic))),
  }));
  return { runs, topics: cells.topics.map((topic) => describe(head, data, cells, measure, topic, of)) };
}

function describe(head, data, cells, measure, topic, of) {
  const values = cells.runs.map((run) => of(run, topic));
  const best = cells.runs.reduce(
    (first, run, i) => (values[i] !== null && (first === null || values[i] > values[first]) ? i : first),
    null,
  );
  const name = head.topics[topic];
  const unanswered = cells.runs.filter((run) => cells.why(run, topic) === UNANSWERED).length;
  return {
    topic,
    name,
    ...spread(values),
    highest: best === null ? null : head.runs[cells.runs[best]],
    unanswered,
    unjudged: data.unjudged[measure]?.[name] ?? 0,
    question: data.questions[name] ?? "",
  };
}

function inOrder(rows, by) {
  if (by === "given") return rows;
  const value = {
    mean: (row) => row.mean,
    spread: (row) => row.sd,
  }[by];
  return ordered(rows, value, true);
}

function open(id, head, measure, run, topic) {
  const to = has(head, "matrix") ? "matrix" : has(head, "answer") ? "answer" : id;
  go(to, { run: head.runs[run], topic: head.topics[topic], measure });
}

function legend(cells, digits) {
  const [low, high] = [Math.min(0, ...cells.values.slice(0, 1)), Math.max(cells.values.at(-1) ?? 1, digits ? 1 : 0)];
  const entries = [
    [low, num(low, 0)],
    [(low + high) / 2, ""],
    [high, num(high, high % 1 ? 1 : 0)],
  ];
  const whys = [UNANSWERED, UNJUDGED, UNDEFINED].filter((why) =>
    cells.runs.some((run) => cells.topics.some((topic) => cells.why(run, topic) === why)),
  );
  return el(
    "p",
    { class: "legend" },
    entries.map(([, words], i) => [sample({ share: i / 2 }), words ? ` ${words} ` : " "]),
    whys.map((why) => [sample({ why }), ` ${reasonText(why)} `]),
  );
}

function summary(runs, topics, measure, digits) {
  const ranked = inOrder(
    topics.filter((one) => one.mean !== null),
    "mean",
  );
  const widest = inOrder(
    topics.filter((one) => one.sd !== null),
    "spread",
  )[0];
  if (!ranked.length) return `No topic has a value of ${measure}.`;
  const [top, last] = [ranked[0], ranked.at(-1)];
  return (
    `The mean of ${count(runs.length, "run")} is highest on topic ${top.name} (${num(top.mean, digits)}) ` +
    `and lowest on ${last.name} ` +
    `(${num(last.mean, digits)}). Runs differ most on ${widest.name} (standard deviation ${num(widest.sd, digits)}).`
  );
}

function list(id, head, measure, topics, digits, questions) {
  const to = has(head, "matrix") ? "matrix" : id;
  const columns = [
    {
      key: "topic",
      label: "topic",
      isText: true,
      value: (row) => row.name,
      cell: (row) => el("a", { href: link(to, { topic: row.name }) }, row.name),
    },
    { key: "mean", label: "mean of runs", value: (row) => row.mean, cell: (row) => num(row.mean, digits) },
    {
      key: "sd",
      label: "spread",
      title: "standard deviation over runs",
      value: (row) => row.sd,
      cell: (row) => num(row.sd, digits),
    },
  ];
  columns.push({ key: "highest", label: "highest", isText: true, value: (row) => row.highest });
  if (topics.some((row) => row.unanswered))
    columns.push({
      key: "unanswered",
      label: "runs without an answer",
      value: (row) => row.unanswered,
      cell: (row) => count(row.unanswered),
    });
  if (topics.some((row) => row.unjudged))
    columns.push({
      key: "unjudged",
      label: "unjudged",
      value: (row) => row.unjudged,
      cell: (row) => count(row.unjudged),
    });
  if (Object.keys(questions).length)
    columns.splice(1, 0, {
      key: "question",
      label: "question",
      isText: true,
      value: (row) => row.question,
      cell: (row) => el("span", { class: "long", title: row.question }, row.question),
    });
  const caption = "Topics over all runs";
  return table({ id, of: id, measure, caption, columns, rows: topics, order: "-mean", current: "topic" });
}
