// Texts that stand in the page as base64 of gzip: opened when they are looked at.

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
