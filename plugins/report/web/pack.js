// Small numbers packed into few bits each: what report/answers/packing.py makes.

import { bytesOf } from "./inflate.js";

/** A function that gives the code at an index of this base64 text; `bits` of each, 1 to 8. */
export function unpacked(text, bits) {
  const bytes = bytesOf(text);
  const mask = (1 << bits) - 1;
  return (index) => {
    const at = index * bits;
    const pair = bytes[at >> 3] | ((bytes[(at >> 3) + 1] ?? 0) << 8);
    return (pair >> (at & 7)) & mask;
  };
}
