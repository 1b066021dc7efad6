// Places in a text as code points, as Python counts them; the browser counts UTF-16 units.

const MAX_CUT = 200_000; // units; longer texts are cut at line ends and by length alone
const cutters = new Map();

/** How many code points these UTF-16 units are; a half that stands alone is one. */
export function pointsIn(text) {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}

/** The sentences or words of a text, { start, end } in code points, without the space around them. */
export function units(text, granularity) {
  const parts = [];
  let point = 0;
  for (const { segment, isWordLike } of segments(text, granularity)) {
    const size = pointsIn(segment);
    const bare = segment.trim();
    if (bare && isWordLike !== false) {
      const start = point + pointsIn(segment.slice(0, segment.indexOf(bare)));
      parts.push({ start, end: start + pointsIn(bare) });
    }
    point += size;
  }
  return parts;
}

function segments(text, granularity) {
  if (text.length > MAX_CUT || !("Segmenter" in Intl)) {
    const parts = granularity === "word" && text.length <= MAX_CUT ? /\S+|\s+/gu : /[^\n]{1,1000}\n?|\n/gu;
    return [...text.matchAll(parts)].map(([segment]) => ({ segment }));
  }
  if (!cutters.has(granularity)) cutters.set(granularity, new Intl.Segmenter("en", { granularity }));
  return cutters.get(granularity).segment(text);
}

/** What of a selection lies in `root`, in code points of the text that it shows; null: nothing. */
export function selectedIn(root, range) {
  if (range.collapsed || !range.intersectsNode(root)) return null;
  const within = document.createRange();
  within.selectNodeContents(root);
  const starts = root.contains(range.startContainer);
  const start = starts ? pointAt(root, range.startContainer, range.startOffset, false) : 0;
  const ends = root.contains(range.endContainer);
  const end = ends ? pointAt(root, range.endContainer, range.endOffset, true) : pointsOf(within.cloneContents());
  return start < end ? { start, end } : null;
}

function pointAt(root, node, offset, isEnd) {
  const escape = (node instanceof Element ? node : node.parentElement).closest(".escape");
  const before = document.createRange();
  before.setStart(root, 0);
  if (escape && root.contains(escape)) {
    const isBehind = isEnd ? offset > 0 : offset >= (node.length ?? node.childNodes.length);
    if (isBehind) before.setEndAfter(escape);
    else before.setEndBefore(escape);
  } else before.setEnd(node, offset);
  return pointsOf(before.cloneContents());
}

// An escape stands for one character, however long it is written.
function pointsOf(fragment) {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let n = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) n += node.parentElement?.closest(".escape") ? 0 : pointsIn(node.data);
    else if (node.classList.contains("escape")) n += 1;
  }
  return n;
}

/** These code points of a text. */
export function cut(text, { start, end }) {
  return [...text].slice(start, end).join("");
}

/** The same place without the space at its ends; null: it is all space. */
export function trimmed(text, { start, end }) {
  const part = cut(text, { start, end });
  const bare = part.trim();
  if (!bare) return null;
  const from = start + pointsIn(part.slice(0, part.indexOf(bare)));
  return { start: from, end: from + pointsIn(bare) };
}
