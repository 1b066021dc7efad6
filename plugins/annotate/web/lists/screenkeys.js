// The keys of a screen: bound once, as the page binds them, and handed to the screen that is open.

import { bind } from "../../../report/web/state.js";

/** Bind `keys`, rows of [key, what it does, name of the action], in the screen of this name.
 *
 * The function that is returned takes the actions of a screen when it opens, by name, and gives back
 * one that takes them away. An action that returns false leaves the key alone.
 */
export function screenKeys(screen, keys) {
  let open = null;
  for (const [key, what, name] of keys) bind(key, what, (event) => (open?.[name] ? open[name](event) : false), screen);
  return (actions) => {
    open = actions;
    return () => {
      if (open === actions) open = null;
    };
  };
}

/** Whether a key would press what has the focus: Enter and space are left to it then. */
export function presses(event) {
  return event.target instanceof Element && event.target.closest("button, a, summary") !== null;
}
