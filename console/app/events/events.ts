import { useEffect, useRef, useState } from 'preact/hooks';
import { plural, shortText } from '#shared/format.ts';
import type { Event } from '#shared/rest/events.ts';
import { Copy } from '../base/copy.ts';
import { html } from '../base/html.ts';
import { Through } from '../base/names.ts';
import { Badge, Heading, Problem } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { eventText } from '../data/item.ts';
import { ActorName, Subject } from '../data/names.ts';
import { Signed } from '../data/signed.ts';
import { EVENTS, Filters, queryOf } from './filters.ts';
import { Json } from './json.ts';
import { type EventLog, type LogState, useLog } from './log.ts';

/** The whole log, the latest first and live, with the filter in the address. */
export const Events = ({ route: { search } }: { readonly route: Route }) => {
  const query = queryOf(search);
  const [isPaused, setPaused] = useState(false);
  const isAway = useIsAway();
  const log = useLog(query, search.get('before'), isPaused || isAway);
  const { shown, problem, state, held } = log;
  return html`
    <${Heading} title="Events">
      <${State} state=${state} isPaused=${isPaused} />
      ${state !== undefined && html`<button type="button" aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>${isPaused ? `Resume${held > 0 ? ` (${held})` : ''}` : 'Pause'}</button>`}
      <${Copy} label="Copy as curl" text=${curlOf(`/events?sort=-cursor${query && `&${query}`}`)} />
    <//>
    <${Filters} search=${search} />
    ${problem && html`<${Problem} problem=${problem} retry=${log.reload} />`}
    ${typeof state === 'object' && html`<${Problem} problem=${state} />`}
    <${Newer} log=${log} isPaused=${isPaused} isInPast=${search.has('before')} search=${search} />
    ${shown === undefined ? problem === undefined && html`<p class="waiting" role="status">Just a moment …</p>` : html`<${List} events=${shown.events} isNarrowed=${query !== ''} isOver=${shown.older === undefined} />`}
    ${shown && html`<${Older} log=${log} />`}
  `;
};

/** The same request with curl and a token. */
export const curlOf = (path: string): string =>
  `curl '${location.origin}${path}' \\\n  -H "Authorization: Bearer $TOKEN"`;

const State = ({ state, isPaused }: { readonly state: LogState | undefined; readonly isPaused: boolean }) => {
  if (state === undefined) return null;
  if (typeof state === 'object') return html`<${Badge} tone="bad">disconnected<//>`;
  if (isPaused) return html`<${Badge} tone="warn">paused<//>`;
  return state === 'live'
    ? html`<${Badge} tone="good">live<//>`
    : html`<${Badge} tone="plain">connecting<//>`;
};

const AWAY_PX = 160;

/** True if the user has scrolled down to read; new events must not move the page then. */
const useIsAway = (): boolean => {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const look = () => setAway(scrollY > AWAY_PX);
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  return isAway;
};

type NewerOptions = {
  readonly log: EventLog;
  readonly isPaused: boolean;
  readonly isInPast: boolean;
  readonly search: URLSearchParams;
};

const Newer = ({
  log: { held, showHeld, loadNewer, isLoading },
  isPaused,
  isInPast,
  search,
}: NewerOptions) => {
  const show = () => {
    showHeld();
    scrollTo({ top: 0 });
  };
  const newest = new URLSearchParams([...search].filter(([name]) => name !== 'before'));
  return html`<p class="unseen" role="status">${held > 0 ? `${plural(held, 'new event')}.` : ''}</p>
    ${held > 0 && !isPaused && html`<p class="news"><button type="button" class="primary" onClick=${show}>${plural(held, 'new event')}</button></p>`}
    ${
      loadNewer !== undefined &&
      html`<p><button type="button" aria-disabled=${isLoading} onClick=${loadNewer}>Show newer</button>${' '}
      ${isInPast && html`<a href=${newest.size === 0 ? EVENTS : `${EVENTS}?${newest}`}>Go to the latest</a>`}</p>`
    }`;
};

/** Loads older events when their place scrolls into view. */
const Older = ({ log: { shown, loadOlder, isLoading } }: { readonly log: EventLog }) => {
  const end = useRef<HTMLParagraphElement>(null);
  const latest = useRef(loadOlder);
  latest.current = loadOlder;
  const isThere = loadOlder !== undefined;
  // A search that finds little goes further back only on request.
  const isByItself = isThere && shown?.searchedTo === undefined;
  useEffect(() => {
    if (!isByItself || end.current === null) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current?.(), {
      rootMargin: '400px',
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isByItself, shown?.events.length]);
  if (!isThere)
    return shown !== undefined && shown.events.length > 0
      ? html`<p class="soft">There are no older events.</p>`
      : null;
  return html`<p ref=${end}>
    ${shown?.searchedTo !== undefined && html`<span class="soft">Searched back to <${Time} at=${shown.searchedTo} />. </span>`}
    <button type="button" aria-disabled=${isLoading} onClick=${loadOlder}>${shown?.searchedTo === undefined ? 'Show older' : 'Search further back'}</button>
  </p>`;
};

type ListOptions = {
  readonly events: readonly Event[];
  readonly isNarrowed: boolean;
  readonly isOver: boolean;
};

const List = ({ events, isNarrowed, isOver }: ListOptions) => {
  if (events.length > 0)
    return html`<ol class="feed">${events.map((event) => html`<${Entry} key=${event.cursor} event=${event} />`)}</ol>`;
  if (!isOver) return html`<div class="empty"><p>No matching events so far.</p></div>`;
  return html`<div class="empty"><p>${isNarrowed ? 'No event matches. New events that match appear here at once.' : 'Nothing has happened yet. New events appear here at once.'}</p></div>`;
};

const Entry = ({
  event: { id, type, at, importedAt, reason, signature, subject, actor, client, correlation, data, parked },
}: {
  readonly event: Event;
}) => html`<li>
  <details>
    <summary>
      <span class="when"><${Time} at=${at} clock /></span>
      <strong class="type" title=${eventText(type)}>${type}</strong>
      <span class="what"><${Subject} subject=${subject} plain />${parked && html` <${Badge} tone="bad">parked<//>`}</span>
      <span class="by">by <${ActorName} actor=${actor} plain /></span>
    </summary>
    <dl class="facts">
      <div><dt>Item</dt><dd><${Subject} subject=${subject} /></dd></div>
      ${reason && html`<div><dt>Why</dt><dd dir="auto">${reason}</dd></div>`}
      ${signature && html`<div><dt>Signature</dt><dd><${Signed} signature=${signature} /></dd></div>`}
      ${importedAt && html`<div><dt>Imported</dt><dd><${Time} at=${importedAt} />, with its time and author</dd></div>`}
      <div><dt>By</dt><dd><${ActorName} actor=${actor} />${client && html` through <${Through} client=${client} />`}</dd></div>
      ${correlation && html`<div><dt>Request</dt><dd><a href=${`${EVENTS}?correlation=${encodeURIComponent(correlation)}`}><code>${shortText(correlation)}</code></a></dd></div>`}
    </dl>
    <${Json} value=${data} />
    <p><a class="button" href=${`${EVENTS}/${id}`}>Open the event</a> <a href=${`${EVENTS}/${id}#why`}>Why?</a></p>
  </details>
</li>`;
