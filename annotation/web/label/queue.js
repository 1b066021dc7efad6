// What is held of a person's queue: the one on the screen, those before it, and the next one ahead.

const MOST = 60;

/** Items by their place, asked for once. */
export function queue(api) {
  const held = new Map();

  /** The item of a place; null: there is no such place. Rejects while the server does not answer, or waits for it. */
  function at(n, waits = false) {
    if (n < 0 || n >= api.task.n) return Promise.resolve(null);
    if (!held.has(n)) {
      const asked = (waits ? api.wait("item", { n }) : api.get("item", { n })).catch((error) => {
        held.delete(n);
        throw error;
      });
      held.set(n, asked);
      for (const old of held.keys()) if (held.size > MOST) held.delete(old);
    }
    return held.get(n);
  }

  return {
    at,
    /** Ask for a place that will be wanted soon. */
    ahead: (n) => void at(n).catch(() => {}),
    /** The first open place behind this one, or before it; null: none is open. */
    next: async (after) => (await api.get("next", after === undefined ? {} : { after })).n,
    /** Ask anew for all: something was undone. */
    forget: () => held.clear(),
  };
}
