// What is loaded of a person's queue: the one on the screen, those before it, and the next one ahead.

const MAX_LOADED = 60;

/** Items by their position, asked for once. */
export function queue(api) {
  const loaded = new Map();

  /** The item at a position; null: there is none. Rejects while the server does not answer, or waits for it. */
  function at(n, waits = false) {
    if (n < 0 || n >= api.task.n) return Promise.resolve(null);
    if (!loaded.has(n)) {
      const asked = (waits ? api.wait("item", { n }) : api.get("item", { n })).catch((error) => {
        loaded.delete(n);
        throw error;
      });
      loaded.set(n, asked);
      for (const old of loaded.keys()) if (loaded.size > MAX_LOADED) loaded.delete(old);
    }
    return loaded.get(n);
  }

  return {
    at,
    /** Ask for a position that will be wanted soon. */
    ahead: (n) => void at(n).catch(() => {}),
    /** The first open position behind this one, or before it; null: none is open. */
    next: async (after) => (await api.get("next", after === undefined ? {} : { after })).n,
    /** Ask anew for all: something was undone. */
    forget: () => loaded.clear(),
  };
}
