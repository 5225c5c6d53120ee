import { useEffect } from 'preact/hooks';
import { countText } from '#shared/format.ts';
import type { EventType } from '#shared/rest/event-types.ts';
import type { RecordedEvent } from '#shared/rest/recorded-event.ts';
import { useAsked } from '../base/asking.ts';
import { Copy } from '../base/copy.ts';
import { html } from '../base/html.ts';
import { Through } from '../base/names.ts';
import { Badge, Heading, Table, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { ImportedAt, Time } from '../base/time.ts';
import { eventText } from '../data/item.ts';
import { ActorName, Subject, useSubjectName } from '../data/names.ts';
import { EventProof } from '../data/proof.ts';
import { Signed } from '../data/signed.ts';
import { DeliveryState } from '../webhooks/state.ts';
import { curlOf } from './events.ts';
import { EVENTS } from './filters.ts';
import { Json } from './json.ts';
import { Why } from './why.ts';

/** One event: its data, actor, cause, place in the chain, and deliveries. */
export const EventPage = ({ route: { parameters } }: { readonly route: Route }) => {
  const path = `/events/${encodeURIComponent(parameters.id ?? '')}`;
  const asked = useAsked<RecordedEvent>(path);
  const event = asked.body;
  const name = useSubjectName(event?.subject ?? '');
  return html`
    <p class="back"><a href=${event === undefined ? EVENTS : `${EVENTS}?before=${afterCursor(event.cursor)}`}>Events</a></p>
    <${Heading} title=${event === undefined ? 'Event' : `${eventText(event.type)}: ${name}`}>
      <${Copy} label="Copy as curl" text=${curlOf(path)} />
    <//>
    <${Whole} asked=${asked} show=${(body: RecordedEvent) => html`<${Shown} event=${body} />`} />`;
};

const RADIX = 36;

/**
 * The list that begins with this event: a cursor is a position, and `before` the next position includes it.
 */
const afterCursor = (cursor: string): string => {
  const [log, place = ''] = cursor.split('-');
  return `${log}-${(Number.parseInt(place, RADIX) + 1).toString(RADIX)}`;
};

const Shown = ({ event }: { readonly event: RecordedEvent }) => {
  useEffect(() => {
    if (location.hash === '#why') document.getElementById('why')?.scrollIntoView();
  }, []);
  return html`<div class="item">
    <div>
      <${Why} id=${event.id} />
      <section><div class="heading"><h2>Data</h2><div class="tools"><${Copy} label="Copy JSON" text=${JSON.stringify(event, null, 2)} /></div></div>
        <${Json} value=${event.data} /></section>
      ${event.deliveries && html`<${Deliveries} deliveries=${event.deliveries} />`}
      <${Schema} type=${event.type} />
    </div>
    <aside aria-label="About the event"><${Envelope} event=${event} />${event.chain && html`<${Chain} chain=${event.chain} />`}<${EventProof} id=${event.id} links=${event._links} /></aside>
  </div>`;
};

const Envelope = ({ event }: { readonly event: RecordedEvent }) => {
  const {
    id,
    type,
    version,
    at,
    importedAt,
    reason,
    signature,
    subject,
    streamVersion,
    actor,
    client,
    correlation,
    causation,
    cursor,
    parked,
  } = event;
  return html`<dl class="facts stacked">
    <div><dt>Type</dt><dd><a href=${`${EVENTS}?types=${type}`}><code>${type}</code></a> <span class="soft">version ${version}</span></dd></div>
    <div><dt>Item</dt><dd><${Subject} subject=${subject} /> <span class="soft">version ${streamVersion}</span>${parked && html` <${Badge} tone="bad">parked<//>`}</dd></div>
    <div><dt>When</dt><dd><${Time} at=${at} /><${ImportedAt} at=${importedAt} /></dd></div>
    ${reason && html`<div><dt>Why</dt><dd dir="auto">${reason}</dd></div>`}
    ${signature && html`<div><dt>Signature</dt><dd><${Signed} signature=${signature} /></dd></div>`}
    <div><dt>By</dt><dd><${ActorName} actor=${actor} />${actor && html` <a href=${`${EVENTS}?by=${encodeURIComponent(actor)}`}>all their events</a>`}</dd></div>
    ${client && html`<div><dt>Through</dt><dd><a href=${`${EVENTS}?client=${encodeURIComponent(client)}`}><${Through} client=${client} /></a></dd></div>`}
    ${correlation && html`<div><dt>Request</dt><dd><a href=${`${EVENTS}?correlation=${encodeURIComponent(correlation)}`}><code class="long">${correlation}</code></a></dd></div>`}
    ${causation && html`<div><dt>Cause</dt><dd><a href=${`${EVENTS}/${causation}`}><code class="long">${causation}</code></a></dd></div>`}
    <div><dt>Cursor</dt><dd><code>${cursor}</code></dd></div>
    <div><dt>Id</dt><dd><code class="long">${id}</code></dd></div>
  </dl>`;
};

const Chain = ({
  chain: { hash, count, head, signed },
}: {
  readonly chain: NonNullable<RecordedEvent['chain']>;
}) => html`<h2>In the chain</h2>
  <dl class="facts stacked">
    <div><dt>Number</dt><dd>${count === null ? html`<${Badge} tone="warn">not in the chain<//>` : html`event ${countText(count)} of the log`}</dd></div>
    <div><dt>Hash</dt><dd><code class="long">${hash}</code></dd></div>
    ${head !== null && html`<div><dt>Head after it</dt><dd><code class="long">${head}</code></dd></div>`}
    <div><dt>Signed</dt><dd>${signed === null ? html`<${Badge} tone="warn">not yet<//>` : html`<${Badge} tone="good">signed<//> <${Time} at=${signed.at} />, over ${countText(signed.count)} events${signed.outside ? ', and stored outside the database' : ''}`}</dd></div>
  </dl>
  <p><a href="/console/proof">State of the proof</a></p>`;

const Deliveries = ({
  deliveries,
}: {
  readonly deliveries: NonNullable<RecordedEvent['deliveries']>;
}) => html`<section><h2>Deliveries</h2>
  ${
    deliveries.length === 0
      ? html`<p class="soft">There are no deliveries to webhooks that you may manage.</p>`
      : html`<${Table}
    caption="Deliveries of the event" items=${deliveries} keyOf=${({ webhookId }: (typeof deliveries)[number]) => String(webhookId)}
    columns=${[
      {
        label: 'Delivery',
        cell: ({ id, webhookId }: (typeof deliveries)[number]) =>
          html`<a href=${`/console/webhooks/${webhookId}/deliveries/${id}`}>to <${Subject} subject=${`webhook-${webhookId}`} plain /></a>`,
      },
      {
        label: 'State',
        cell: ({ state }: (typeof deliveries)[number]) =>
          html`<${DeliveryState} delivery=${{ state, attempts: 0 }} />`,
      },
      { label: 'Attempts', numeric: true, cell: ({ attempts }: (typeof deliveries)[number]) => attempts },
      {
        label: 'Last response',
        cell: ({ lastStatus, lastError }: (typeof deliveries)[number]) =>
          lastError ?? lastStatus ?? html`<span class="soft">–</span>`,
      },
    ]}
  />`
  }</section>`;

const Schema = ({ type }: { readonly type: string }) => {
  const { body } = useAsked<readonly EventType[]>(`/event-types?type=${encodeURIComponent(type)}`);
  const found = body?.[0];
  if (found === undefined) return null;
  return html`<section><h2>Schema</h2><p>${found.description}</p>
    <details><summary>JSON Schema of the data, version ${found.version}</summary><${Json} value=${found.schema} /></details></section>`;
};
