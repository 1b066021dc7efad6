// What changed, for people who do not see the page.

/** Say something to people who do not see the page. */
export function say(text) {
  document.querySelector(".live").textContent = text;
}
