// Topics.

export const keys = [];

/** See page.js. */
export function draw() {
  return [];
}
