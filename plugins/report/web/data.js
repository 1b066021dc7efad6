// Data of the page unpacked: islands, labels in bits, columns of codes (packing.py).

/** Bytes of base64. */
export function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** The text. */
export function inflated(packed) {
  const bytes = bytesOf(packed);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

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

const KINDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/** A column of the page's data: its distinct `values`, in order, and of each row the number of its value. */
export function column({ values, codes, bytes }) {
  const numbers = new KINDS[bytes](bytesOf(codes).buffer);
  return { values, codes: numbers, at: (row) => values[numbers[row]] };
}

/** All columns of an object. */
export function columns(packed) {
  return Object.fromEntries(Object.entries(packed).map(([name, each]) => [name, column(each)]));
}

/** The rows, of `n`, that have a value in each column of `wanted`, and `text` in any of `searched`.
 *
 * wanted: [[column, value]], "" is any value; a value is compared as text.
 */
export function chosen(n, wanted, text = "", searched = []) {
  const isIn = new Uint8Array(n).fill(1);
  for (const [{ values, codes }, value] of wanted) {
    if (value === "") continue;
    const code = values.findIndex((known) => String(known) === value);
    for (let row = 0; row < n; row++) if (codes[row] !== code) isIn[row] = 0;
  }
  const part = text.trim().toLowerCase();
  if (part) {
    const isMatch = new Uint8Array(n);
    for (const one of searched) {
      const [is, { codes }] = [hits(one, part), one];
      if (is) for (let row = 0; row < n; row++) isMatch[row] |= is[codes[row]];
    }
    for (let row = 0; row < n; row++) isIn[row] &= isMatch[row];
  }
  const rows = new Uint32Array(n);
  let length = 0;
  for (let row = 0; row < n; row++) if (isIn[row]) rows[length++] = row;
  return rows.subarray(0, length);
}

/** Its distinct values as one text to search in, and where each ends; it takes a while of a million. */
export function lowered(column) {
  if (column.lower) return column.lower;
  const values = column.values.map((value) => (value === null ? "" : String(value).toLowerCase()));
  const ends = new Uint32Array(values.length);
  let end = 0;
  for (let i = 0; i < values.length; i++) {
    ends[i] = end + values[i].length;
    end = ends[i] + 1;
  }
  column.lower = { text: values.join("\n"), ends };
  return column.lower;
}

/** Of each distinct value whether it has the part; null if none has. */
function hits(column, part) {
  const { text, ends } = lowered(column);
  const is = new Uint8Array(ends.length);
  let code = 0;
  let at = text.indexOf(part);
  if (at < 0) return null;
  let any = false;
  while (at >= 0) {
    while (ends[code] < at) code++;
    const isWithin = at + part.length <= ends[code];
    if (isWithin) any = is[code] = 1;
    at = text.indexOf(part, isWithin ? ends[code] + 1 : at + 1);
  }
  return any ? is : null;
}

/** Rows in the order of a column, equal ones as they were, those without a value last. */
export function sorted(rows, { values, codes }, isDescending) {
  const n = values.length;
  const isNone = n && values[n - 1] === null ? 1 : 0;
  const rankOf = Uint32Array.from(values, (_,
    code) => (isDescending && code < n - isNone ? n - isNone - 1 - code : code));
  const starts = new Uint32Array(n + 1);
  for (let i = 0; i < rows.length; i++) starts[rankOf[codes[rows[i]]] + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const ordered = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) ordered[starts[rankOf[codes[rows[i]]]]++] = rows[i];
  return ordered;
}

/** How many of the rows have each value, as [value, n], in order, without those that none has. */
export function counts(rows, { values, codes }) {
  const n = new Uint32Array(values.length);
  for (const row of rows) n[codes[row]]++;
  return values.map((value, i) => [value, n[i]]).filter(([, count]) => count);
}
