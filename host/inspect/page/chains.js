// The name of a chain, and the lanes of its parts. One chain is drawn at a time.

import { clean, short } from './words.js';

/** The maximum number of lanes. Further parts share the last. */
const LANES = 24;

/** The parts of a connection's chain, from the client to the agent: the names by lane, and the lane of each name's
 * number. */
export function lanesOf(model, connection) {
  const order = [...new Set((model.connections[connection]?.proxies ?? []).map(clean))].slice(0, LANES);
  const ends = new Set(['', 'client', 'agent', ...order]);
  for (const number of model.chain(connection).parts) {
    const name = model.name(number);
    if (!ends.has(name) && order.length < LANES) order.push(name);
  }
  const list = ['client', ...order, 'agent'];
  const lane = new Map(list.map((name, at) => [name, at]));
  return { connection, list, of: (number) => lane.get(model.name(number)) ?? list.length - 2 };
}

/** A connection in a few words: its agent, its client and its folder. */
export function titleOf(model, connection) {
  const { agent, client, folder, name } = model.connections[connection] ?? {};
  const end = (folder ?? '').split(/[\\/]/).filter(Boolean).at(-1);
  const words = [agent, client && `for ${client}`, end && `in ${end}`].filter(Boolean).join(' ');
  return short(clean(words || (name ? `connection ${name}` : 'connection')), 80);
}

/** The filtered connection, else that of the selected row, else the last one with rows. */
export function chainOf(model, name, row) {
  const filtered = name ? model.connections.findIndex((connection) => clean(connection.name) === name) : -1;
  if (filtered >= 0) return filtered;
  const at = model.at(row);
  if (at >= 0 && model.connection[at] >= 0) return model.connection[at];
  return model.connections.findLastIndex((_, connection) => model.chain(connection).newest >= model.first);
}
