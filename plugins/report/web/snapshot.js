// What a redrawn section has to give back: the focus, what is selected, how far tables are scrolled.

const FOCUSABLE = "a[href], button, input, select, textarea, [tabindex]";

/** Remember the state of `root`; call what is returned when it has been drawn anew to restore it.
 *
 * What has the focus is found again by its id or name, otherwise by its index among what can have it.
 */
export function snapshot(root) {
  const active = document.activeElement;
  const isInside = active !== root && root.contains(active);
  const index = isInside ? [...root.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const isText = isInside && active.matches("input:not([type]), input[type=text], input[type=search]");
  const selection = isText ? [active.selectionStart, active.selectionEnd] : null;
  const scrolls = [...root.querySelectorAll(".scroll")].map((one) => [one, one.scrollLeft, one.scrollTop]);
  return () => {
    const now = [...root.querySelectorAll(".scroll")];
    scrolls.forEach(([before, left, top], i) => {
      const isMoved = (left || top) && now[i] && now[i] !== before; // else nothing is to be laid out for it
      if (isMoved) [now[i].scrollLeft, now[i].scrollTop] = [left, top];
    });
    if (!isInside || active.isConnected) return;
    const again = named(root, active) ?? root.querySelectorAll(FOCUSABLE)[index] ?? root;
    again.focus({ preventScroll: true });
    if (selection && again.setSelectionRange) again.setSelectionRange(...selection);
  };
}

function named(root, { id, name, tagName }) {
  if (id) return document.getElementById(id);
  return name ? [...root.querySelectorAll(tagName)].find((one) => one.name === name) : null;
}
