// How long a person was at it: from what they did while the page had the focus, not from a clock that runs on.

export const MAX_IDLE_MS = 60_000; // between two actions: reading a long text counts, leaving the room does not
const ACTIONS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchmove"];

/** Count active milliseconds until `stop()`; `now` is a clock. */
export function activity(now = () => performance.now()) {
  let counted = 0;
  let last = isHere() ? now() : null; // of the last action; null while the page has not the focus
  const since = () => (last === null ? 0 : Math.min(now() - last, MAX_IDLE_MS));
  const action = () => {
    counted += since();
    last = now();
  };
  const left = () => {
    counted += since();
    last = null;
  };
  const changed = () => (isHere() ? action() : left());
  for (const kind of ACTIONS) addEventListener(kind, action, { capture: true, passive: true });
  addEventListener("focus", changed);
  addEventListener("blur", left);
  document.addEventListener("visibilitychange", changed);
  return {
    /** Milliseconds since the last `restart`. */
    ms: () => Math.round(counted + since()),
    restart() {
      counted = 0;
      last = isHere() ? now() : null;
    },
    stop() {
      for (const kind of ACTIONS) removeEventListener(kind, action, { capture: true });
      removeEventListener("focus", changed);
      removeEventListener("blur", left);
      document.removeEventListener("visibilitychange", changed);
    },
  };
}

function isHere() {
  return !document.hidden && document.hasFocus();
}

/** Milliseconds as a person says them. */
export function spoken(ms) {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
