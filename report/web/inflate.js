// Texts that stand in the page as base64 of gzip: opened when they are looked at.

/** The text. */
export function inflated(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
