// What the server has not acknowledged, in this browser's storage: an entry an event, so that two pages keep apart.

const PREFIX = "judge unsent";
let count = 0;

/** Keep an event of a session; returns the name that it is kept by. */
export function store(session, event) {
  count += 1;
  const order = `${String(Date.now()).padStart(15, "0")} ${String(count).padStart(6, "0")}`;
  const key = `${PREFIX} ${session} ${order} ${event.id}`;
  try {
    localStorage.setItem(key, JSON.stringify(event));
  } catch {
    // full or switched off: the page itself still has it
  }
  return key;
}

/** Drop what is acknowledged. */
export function forget(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // as above
  }
}

/** What was kept of this session, { key, event }, in the order of the actions. */
export function stored(session) {
  const prefix = `${PREFIX} ${session} `;
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => ({ key, event: parsed(localStorage.getItem(key)) })).filter(({ event }) => event);
  } catch {
    return [];
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
