// The chains, with their sessions and turns.

import { html, nothing } from './vendor/lit-html.js';
import { titleOf } from './chains.js';
import { clean, localTime, number, short, span } from './words.js';

/** The number of a session's newest turns that are shown at first. */
const TURNS = 50;

/** The maximum number of chains that are shown. */
const CHAINS = 100;

/** Which lines of a chain are no longer here. */
export const LOST = {
  some: 'Its oldest lines are no longer kept: newer lines of all chains took their place.',
  all: 'None of its lines are kept: newer lines of other chains took their place. A trace in a file has all.',
};

const all = new Set();

/** The chains as elements. `act` has `term(key, value)` and `again()`; `now` is the filter's session, turn and
 * connection. */
export function side(model, now, act) {
  const sessions = new Map();
  for (const turn of model.turns) {
    const key = `${turn.connection} ${turn.session}`;
    const list = sessions.get(key);
    if (list) list.push(turn);
    else sessions.set(key, [turn]);
  }
  const chains = model.connections.map((connection, at) => ({ connection, at })).slice(-CHAINS);
  if (!chains.length) {
    return html`<p class="quiet">${model.isLive ? 'No chain is running yet. New ones appear here.' : 'This trace is empty.'}</p>`;
  }
  const left = model.connections.length - chains.length;
  // Those that run come first.
  if (model.isLive) chains.sort((one, other) => hasEnded(model, one.connection) - hasEnded(model, other.connection));
  return html`${left > 0 ? html`<p class="quiet">${number(left)} older chains are not shown here.</p>` : nothing}
    ${chains.map(({ connection, at }) => chain(model, connection, at, sessions, now, act))}`;
}

function hasEnded(model, connection) {
  return Boolean(model.sources[connection.source]?.has_ended || connection.has_ended);
}

function chain(model, connection, at, sessions, now, act) {
  const own = [...sessions.values()].filter(([turn]) => turn.connection === at);
  const source = model.sources[connection.source];
  const proxies = connection.proxies.map((name) => short(clean(name), 60));
  const isOver = hasEnded(model, connection);
  const name = clean(connection.name);
  const lost = model.lost(at);
  return html`<section aria-label="chain ${name}">
    <h3 title="${source ? clean(source.name) : ''}, connection ${name}">
      ${titleOf(model, at)}
      ${source?.is_live ? html`<span class="chip ${isOver ? 'ended' : 'runs'}">${isOver ? 'ended' : 'runs'}</span>` : nothing}
      ${connection.role === 'proxy' ? html`<span class="chip">inner chain</span>` : nothing}
      ${connection.user ? html`<span class="chip">${short(clean(connection.user), 40)}</span>` : nothing}
    </h3>
    <p class="quiet">${[localTime(connection.begun), source ? clean(short(source.name.split('/').at(-1), 40)) : ''].filter(Boolean).join(' · ')}</p>
    ${lost ? html`<p class="problem">${LOST[lost]}</p>` : nothing}
    ${model.connections.length > 1
      ? html`<button aria-pressed=${now.connection === name} class="choice" title=${name} @click=${() => act.term('connection', now.connection === name ? '' : name)}>only this chain</button>`
      : nothing}
    <p class="chain">${['client', ...proxies, 'agent'].join(' ⇄ ')}</p>
    ${own.length ? nothing : html`<p class="quiet">no turns yet</p>`}
    ${own.map((turns) => session(model, turns, now, act))}
  </section>`;
}

function session(model, turns, now, act) {
  const name = model.name(turns[0].session);
  const key = `${turns[0].connection} ${turns[0].session}`;
  const shown = all.has(key) ? turns : turns.slice(-TURNS);
  const button = (isOn, choose, content, label) => html`<button aria-pressed=${isOn} class="choice" title=${label} @click=${choose}>${content}</button>`;
  return html`${button(now.session === name, () => act.term('session', now.session === name ? '' : name), html`session <code>${short(name || '?', 18)}</code>`, name)}
    ${shown.length < turns.length
      ? html`<button class="link" @click=${() => (all.add(key), act.again())}>${number(turns.length - shown.length)} earlier turns</button>`
      : nothing}
    <ol>
      ${shown.map((turn) => {
        const isOn = now.turn === String(turn.row);
        const at = model.at(turn.row);
        const took = model.between(turn.row, turn.over);
        const label = [at < 0 ? '' : localTime(model.time[at]), turn.title].filter(Boolean).join(': ');
        return html`<li>${button(isOn, () => act.term('turn', isOn ? '' : String(turn.row)), html`<span class="time">${took < 0 ? '…' : span(took)}</span> ${turn.title || '(no text)'}`, label)}</li>`;
      })}
    </ol>`;
}
