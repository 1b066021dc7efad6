// What is typed and marked at an item that has no label yet: kept by this tab, so that a reload loses none of it.

const name = (item) => `judge draft ${item.item ?? item.n} ${item.texts.map(({ sha256 }) => sha256).join(" ")}`;

/** What was kept of this item, { rationale, spans }; null: nothing was. */
export function kept(item) {
  try {
    return JSON.parse(sessionStorage.getItem(name(item)));
  } catch {
    return null; // storage is switched off, or somebody else wrote there
  }
}

/** Keep it, or forget it where there is nothing to keep. */
export function keep(item, { rationale, spans }) {
  try {
    if (rationale || spans.length) sessionStorage.setItem(name(item), JSON.stringify({ rationale, spans }));
    else sessionStorage.removeItem(name(item));
  } catch {
    // full or switched off: what is typed still stands on the page
  }
}
