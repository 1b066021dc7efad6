// What a person does at an item, as events; the page goes on at once and hears when one is not taken.

import { say } from "../../../report/web/el.js";

/** Events of actions at items; `refused(error, n)` when the server does not take one. */
export function makeEvents(api, refused) {
  async function send(fields) {
    try {
      return await api.send(fields);
    } catch (error) {
      refused(error, fields.n);
      return null;
    }
  }
  const about = (item) => ({ n: item.n, item: item.item });
  return {
    /** `ms` since the item was shown; what it took before counts as well. */
    label(item, label, { spans, rationale }, ms) {
      const active_ms = (item.label?.active_ms ?? 0) + ms;
      item.label = { label, spans, rationale, active_ms };
      item.is_skipped = false;
      return send({ do: "label", ...about(item), label, spans, rationale, active_ms });
    },
    clear(item) {
      item.label = null;
      return send({ do: "clear", ...about(item) });
    },
    flag(item, on, why = "") {
      item.flagged = on;
      return send({ do: "flag", ...about(item), on, why });
    },
    skip(item) {
      item.is_skipped = true;
      return send({ do: "skip", ...about(item) });
    },
    /** The position at which something was undone or done again; null: there was nothing. */
    async back(what) {
      const reply = await send({ do: what });
      if (reply && (reply.seq === null || reply.seq === undefined)) say(`nothing to ${what}`);
      return reply?.n ?? null;
    },
  };
}
