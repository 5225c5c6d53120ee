import { useEffect, useRef, useState } from 'preact/hooks';
import { useApi } from '../asking.ts';
import { countText, plural, shortText } from '../format.ts';
import { html } from '../html.ts';
import { Actor, Subject } from '../names.ts';
import { Badge, Heading, Problem } from '../parts.ts';
import type { ProblemFacts } from '../problem.ts';
import { type Place, put } from '../router.ts';
import { Time } from '../time.ts';
import { Filters, queryOf } from './filters.ts';
import { type Event, follow } from './follow.ts';

/** What happens, as it happens: the latest first, as long as nobody presses Pause. */
export const Feed = ({ place: { search } }: { readonly place: Place }) => {
  const query = queryOf(search);
  const [isPaused, setPaused] = useState(false);
  const { events, waiting, state, clear } = useFeed(query, isPaused);
  return html`
    <${Heading} title="Feed">
      <${State} state=${state} isPaused=${isPaused} />
      <button type="button" aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>${isPaused ? `Resume${waiting > 0 ? ` (${countText(waiting)})` : ''}` : 'Pause'}</button>
      <button type="button" onClick=${clear}>Clear</button>
    <//>
    <${Filters} search=${search} />
    ${typeof state === 'object' && html`<${Problem} problem=${state} />`}
    <p class="unseen" role="status">${isPaused ? `Paused, ${plural(waiting, 'event')} waiting.` : `${plural(events.length, 'event')} shown.`}</p>
    ${
      events.length === 0
        ? html`<div class="empty"><p>Nothing has happened since you came here. What happens next appears here at once, the latest first.</p>
            <p><button type="button" onClick=${() => put(`/console/feed${queryOf(withSince(search))}`)}>Begin an hour ago</button></p></div>`
        : html`<ol class="feed">${events.map((event) => html`<${Entry} key=${event.cursor} event=${event} />`)}</ol>`
    }
  `;
};

const State = ({ state, isPaused }: { readonly state: FeedState; readonly isPaused: boolean }) => {
  if (typeof state === 'object') return html`<${Badge} tone="bad">cut off<//>`;
  if (isPaused) return html`<${Badge} tone="warn">paused<//>`;
  return state === 'live' ? html`<${Badge} tone="good">live<//>` : html`<${Badge} tone="plain">connecting<//>`;
};

const Entry = ({ event: { type, at, subject, actor, cursor, client, request, data, parked } }: { readonly event: Event }) => html`<li>
  <details>
    <summary>
      <span class="when"><${Time} at=${at} clock /></span>
      <strong class="type">${type}</strong>
      <span class="what">${subject}${parked && html` <${Badge} tone="bad">parked<//>`}</span>
      <span class="by">by <${Actor} actor=${actor} plain /></span>
    </summary>
    <dl class="facts">
      <div><dt>Item</dt><dd><${Subject} subject=${subject} /></dd></div>
      <div><dt>By</dt><dd><${Actor} actor=${actor} />${client && html` through <code>${client}</code>`}</dd></div>
      <div><dt>Cursor</dt><dd><code>${cursor}</code></dd></div>
      ${request && html`<div><dt>Request</dt><dd><code>${shortText(request)}</code></dd></div>`}
    </dl>
    <pre tabindex="0"><code>${JSON.stringify(data, null, 2)}</code></pre>
  </details>
</li>`;

const HOUR_MS = 3_600_000;
const withSince = (search: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...search, ['since', new Date(Date.now() - HOUR_MS).toISOString()]]);

const EVENTS_MAX = 200;
type FeedState = 'connecting' | 'live' | ProblemFacts;

/** Where somebody pauses, what comes is kept, and where there is too much of it, the oldest is let go. */
const useFeed = (query: string, isPaused: boolean) => {
  const api = useApi();
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [held, setHeld] = useState<readonly Event[]>([]);
  const [state, setState] = useState<FeedState>('connecting');
  const [followed, setFollowed] = useState(query);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  useEffect(() => {
    const leaving = new AbortController();
    setEvents([]);
    setHeld([]);
    setFollowed(query);
    const onEvent = (event: Event) => (paused.current ? setHeld : setEvents)((before) => [event, ...before].slice(0, EVENTS_MAX));
    void follow(api, { path: `/events${query}`, signal: leaving.signal, onEvent, onState: setState });
    return () => leaving.abort();
  }, [api, query]);
  useEffect(() => {
    if (isPaused) return;
    // What was held is taken over once, when somebody resumes.
    setEvents((before) => [...held, ...before].slice(0, EVENTS_MAX));
    setHeld([]);
  }, [isPaused]);
  // What was said of the stream of other filters is not said of this one, which begins only after this is drawn.
  return { events, waiting: held.length, state: followed === query ? state : 'connecting', clear: () => setEvents([]) };
};
