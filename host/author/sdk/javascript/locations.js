// Errors name the lines of an author's sources, and not those of the bundle that is made of them. Where its parts come
// from, `acp-chain build` writes into its first line.

/* global acpChainPlaces */

/** Where a place of the bundle comes from, as `src/proxy.js:12`; nothing, if that is not of the author. */
function origin(line, column) {
  const { sources, places } = acpChainPlaces;
  let found;
  // The first line of the bundle is that of the places.
  for (let n = 0; n < places.length; n += 4) {
    if (places[n] > line - 1 || (places[n] === line - 1 && places[n + 1] >= column)) break;
    found = n;
  }
  const source = sources[places[found + 2]];
  return source && `${source}:${places[found + 3]}`;
}

Error.prepareStackTrace = (_error, frames) =>
  frames.map((frame) => {
    const name = frame.getFunctionName();
    const place = origin(frame.getLineNumber(), frame.getColumnNumber());
    return place ? `    at ${name ? `${name} (${place})` : place}\n` : "";
  }).join("");

/** What was thrown, with the place in the author's sources. */
export function explain(error) {
  const place = /\(?(\S+:\d+)\)?\n/.exec(stackOf(error))?.[1];
  return place ? `${error} (${place})` : `${error}`;
}

/** What was thrown, with all places in the author's sources on the way to it. */
export const trace = (error) => `${error}\n${stackOf(error)}`.trimEnd();

const stackOf = (error) => (typeof error?.stack === "string" ? error.stack : "");
