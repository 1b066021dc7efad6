// Columns of codes (report/columns.py): a million rows are chosen and sorted in some milliseconds.

import { bytesOf } from "./inflate.js";

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
  let rows = new Uint32Array(n);
  for (let row = 0; row < n; row++) rows[row] = row;
  for (const [{ values, codes }, value] of wanted) {
    if (value === "") continue;
    const code = values.findIndex((known) => String(known) === value);
    rows = narrowed(rows, (row) => codes[row] === code);
  }
  const part = text.trim().toLowerCase();
  if (!part) return rows;
  const found = new Uint8Array(n);
  for (const one of searched) {
    const [is, { codes }] = [hits(one, part), one];
    if (is) for (let row = 0; row < n; row++) found[row] |= is[codes[row]];
  }
  return narrowed(rows, (row) => found[row]);
}

function narrowed(rows, isWanted) {
  let length = 0;
  for (let i = 0; i < rows.length; i++) {
    if (isWanted(rows[i])) rows[length++] = rows[i];
  }
  return rows.subarray(0, length);
}

/** Its distinct values as they are searched in; it takes a while of a million, so call it before it is wanted. */
export function lowered(column) {
  column.lower ??= column.values.map((value) => (value === null ? "" : String(value).toLowerCase()));
  return column.lower;
}

function hits(column, part) {
  const lower = lowered(column);
  const is = new Uint8Array(lower.length);
  let any = false;
  for (let i = 0; i < lower.length; i++) {
    if (lower[i].includes(part)) any = is[i] = 1;
  }
  return any ? is : null;
}

/** Rows in the order of a column, equal ones as they were, those without a value last. */
export function sorted(rows, { values, codes }, isDescending) {
  const n = values.length;
  const isNone = n && values[n - 1] === null ? 1 : 0;
  const place = Uint32Array.from(values, (_,
    code) => (isDescending && code < n - isNone ? n - isNone - 1 - code : code));
  const starts = new Uint32Array(n + 1);
  for (let i = 0; i < rows.length; i++) starts[place[codes[rows[i]]] + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const found = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) found[starts[place[codes[rows[i]]]]++] = rows[i];
  return found;
}

/** How many of the rows have each value, as [value, n], in order, without those that none has. */
export function counts(rows, { values, codes }) {
  const n = new Uint32Array(values.length);
  for (const row of rows) n[codes[row]]++;
  return values.map((value, i) => [value, n[i]]).filter(([, count]) => count);
}
