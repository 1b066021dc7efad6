// Facts and runs.

export const keys = [];

/** See page.js. */
export function draw() {
  return [];
}
