// Errors have positions in the author's sources instead of the bundle. `acp-chain build` writes the origins of the
// bundle's parts into its first line.

/* global acpChainPlaces */

/** The origin of a position in the bundle, such as `src/proxy.js:12`; undefined for other code. */
function origin(line, column) {
  const { sources, places } = acpChainPlaces;
  let found;
  // The first line of the bundle has the origins.
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

/** A thrown value, with its position in the author's sources. */
export function explain(error) {
  const place = /\(?(\S+:\d+)\)?\n/.exec(stackOf(error))?.[1];
  return place ? `${error} (${place})` : `${error}`;
}

/** A thrown value, with all positions of its stack in the author's sources. */
export const trace = (error) => `${error}\n${stackOf(error)}`.trimEnd();

const stackOf = (error) => (typeof error?.stack === "string" ? error.stack : "");
