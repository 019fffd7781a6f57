/** Checks that all options are known. */
export function checked(called, options, known) {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown) throw new TypeError(`${called}: there is no option ${unknown}; there are ${known.join(", ")}`);
  return options;
}
