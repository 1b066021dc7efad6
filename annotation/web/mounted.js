// A screen in its place: drawn, its keys bound once, taken down when another comes.

import { el } from "../../report/web/el.js";

/** The `view(root, api, route)` of a screen.
 *
 * id: of its section, which keys are bound for. make(section, api, route): the screen, with `start()`, `stop()` and
 * `goes(n)`, for another place in the address. bindKeys(task, shown): once; `shown()` is the screen that keys are for,
 * null while there is none.
 */
export function mounted(id, make, bindKeys) {
  let shown = null;
  let isBound = false;
  return async (root, api, route) => {
    const section = el("section", { id, class: "work", tabindex: "-1" }, el("p", { class: "nothing" }, "One moment."));
    root.replaceChildren(section);
    const page = make(section, api, route);
    const stop = () => {
      page.stop();
      if (shown === page) shown = null;
    };
    shown = page;
    if (!isBound) bindKeys(api.task, () => shown);
    isBound = true;
    route.onchange(() => route.n !== null && page.goes(route.n));
    try {
      await page.start();
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  };
}
