// Screens that go from position to position by themselves, and name the position in the address.

/** What app.js opens: `screen(root, api, n, open)` is drawn for a position and returns what takes it down.
 *
 * first(api): the position to start at where the address names none; `open(n)` goes to another.
 */
export function paged(name, first, screen) {
  return (root, api) => {
    let [down, at, isDown] = [() => {}, null, false];
    const open = (n) => {
      if (isDown) return;
      down();
      at = n;
      if (n !== null) history.replaceState(null, "", `#${name}?n=${n}`);
      down = screen(root, api, n, open);
      scrollTo({ top: 0 });
    };
    const moved = () => {
      const n = asked(name);
      if (n !== null && n !== at) open(n);
    };
    addEventListener("hashchange", moved);
    const n = asked(name);
    if (n !== null) open(n);
    else first(api).then(open, () => open(0)); // then the screen says what is wrong
    return () => {
      isDown = true;
      removeEventListener("hashchange", moved);
      down();
    };
  };
}

/** The first position that is open, of all that this person has; the first of all where none is. */
export async function firstOpen(api) {
  return (await api.get("next")).n ?? 0;
}

function asked(name) {
  const [view, query = ""] = location.hash.slice(1).split("?", 2);
  const n = new URLSearchParams(query).get("n") ?? "";
  return view === name && /^\d{1,9}$/.test(n) ? Number(n) : null;
}
