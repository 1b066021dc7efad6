// The keys by which words are marked, the same on all screens.

import { bind } from "../../../report/web/state.js";

/** Bind them for the section `of`.
 *
 * marks(): the marks of `spans.js` while words are marked, otherwise nothing; then Enter is `entered(event)`'s, and
 * arrows are `moved(step)`'s.
 */
export function bindMarking(of, { marks, entered, moved }) {
  const marking = (act) => () => (marks() ? act(marks()) : false);
  const arrow = (step) => (event) => {
    if (marks()) return marks().move(step, event.shiftKey);
    return event.shiftKey ? false : moved(step);
  };
  bind("]", "marking words: next sentence", marking((m) => m.move(1, false)), of);
  bind("[", "marking words: previous sentence", marking((m) => m.move(-1, false)), of);
  bind("}", "marking words: extend by a sentence (Shift and ])", marking((m) => m.move(1, true)), of);
  bind("{", "marking words: shrink by a sentence (Shift and [)", marking((m) => m.move(-1, true)), of);
  bind("ArrowRight", "same as j; marking words: same as ]", arrow(1), of);
  bind("ArrowLeft", "same as k; marking words: same as [", arrow(-1), of);
  bind("w", "marking words: move by word or by sentence", marking((m) => m.byWord()), of);
  bind("Delete", "marking words: remove a mark", marking((m) => m.drop()), of);
  bind("Escape", "marking words: stop", marking((m) => m.turn(false)), of);
  bind("Enter", "keep the judge's label if it is shown; marking words: mark", (event) => {
    if (event.target instanceof Element && event.target.closest("button, a, summary")) return false;
    return marks() ? marks().mark() : entered(event);
  }, of);
}
