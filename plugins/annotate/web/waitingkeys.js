// Keys that are pressed while it is not known yet what they are for: they wait, and are then pressed in their order.

import { el } from "../../report/web/el.js";

const SOON_MS = 400; // what takes longer is shown
const PASSED = ["Tab", "Shift", "Control", "Alt", "Meta"];
const FIELD = "textarea, input:not([type=radio], [type=checkbox])";

const notice = el("p", { class: "waiting-keys", role: "status", hidden: true },
  "Waiting for the server. The keys that you press will take effect when it answers.");
let [holding, timer, waiting] = [0, null, []];

/** Hold keys back, but those written into a field; what is returned lets go, once all who hold have let go.
 *
 * most: milliseconds after which it lets go by itself.
 */
export function holdKeys(most = Infinity) {
  if (!holding) {
    if (!notice.isConnected) document.body.append(notice);
    timer = setTimeout(() => (notice.hidden = false), SOON_MS);
  }
  holding += 1;
  const screen = openScreen();
  let isHeld = true;
  const letGo = () => {
    if (!isHeld) return;
    isHeld = false;
    holding -= 1;
    if (holding) return;
    clearTimeout(timer);
    notice.hidden = true;
    const keys = waiting;
    waiting = [];
    if (openScreen() === screen) keys.forEach(press); // else they were for a screen that is gone
  };
  if (most < Infinity) setTimeout(letGo, most);
  return letGo;
}

/** The screen that is open, by the address. */
function openScreen() {
  return location.hash.slice(1).split("?")[0];
}

function press(key) {
  if (holding) return void waiting.push(key); // one of those before began to wait again
  const target = document.activeElement ?? document.body;
  const { value, selectionStart: start, selectionEnd: end } = target;
  if (target.matches(FIELD) && [...key.key].length === 1) {
    target.setRangeText(key.key, start ?? value.length, end ?? value.length, "end");
    target.dispatchEvent(new InputEvent("input", { bubbles: true }));
    return;
  }
  const event = new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true });
  const isLeft = target.dispatchEvent(event);
  if (isLeft && (key.key === "Enter" || key.key === " ") && target.matches("button, a, summary, [type=radio]")) target.click();
}

addEventListener("keydown", (event) => {
  if (!holding || !event.isTrusted || event.ctrlKey || event.altKey || event.metaKey || PASSED.includes(event.key)) return;
  if (event.target instanceof Element && event.target.matches(FIELD)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!event.repeat) waiting.push({ key: event.key, code: event.code, shiftKey: event.shiftKey });
}, { capture: true });
