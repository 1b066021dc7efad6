// A mounted screen: drawn, its keys bound once, taken down when another comes.

import { el } from "../../../report/web/el.js";

/** The `view(root, api, route)` of a screen.
 *
 * id: of its section, which keys are bound for. make(section, api, route): the screen, with `start()`, `stop()` and
 * `goes(n)`, for another position in the address. bindKeys(task, shown): once; `shown()` is the screen that keys are for,
 * null while there is none. `view.bindKeys(task)` binds them before the screen is drawn.
 */
export function mounted(id, make, bindKeys) {
  let shown = null;
  let isBound = false;
  const bindOnce = (task) => {
    if (!isBound) bindKeys(task, () => shown);
    isBound = true;
  };
  const view = async (root, api, route) => {
    const section = el("section", { id, class: "work", tabindex: "-1" }, el("p", { class: "nothing" }, "Loading …"));
    root.replaceChildren(section);
    const page = make(section, api, route);
    const stop = () => {
      page.stop();
      if (shown === page) shown = null;
    };
    shown = page;
    bindOnce(api.task);
    route.onchange(() => route.n !== null && page.goes(route.n));
    try {
      await page.start();
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  };
  return Object.assign(view, { bindKeys: bindOnce });
}
