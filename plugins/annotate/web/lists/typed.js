// What is typed and not yet sent: kept over a reload of the page, for this tab alone.

/** A draft of this name. `keep("")` and `keep(null)` take it away. */
export function draft(name) {
  const key = `draft:${name}`;
  return {
    read: () => {
      try {
        return JSON.parse(sessionStorage.getItem(key));
      } catch {
        return null; // another's, or none can be kept
      }
    },
    keep: (value) => {
      try {
        if (value === null || value === "") sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, JSON.stringify(value));
      } catch {
        // The storage is full or switched off: then nothing outlives a reload.
      }
    },
  };
}
