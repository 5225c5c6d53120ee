import { shortText } from '#shared/format.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import type { EventTrace } from '#shared/rest/recorded-event.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Through } from '../base/names.ts';
import { Whole } from '../base/parts.ts';
import { ImportedAt, Time } from '../base/time.ts';
import { eventText } from '../data/item.ts';
import { ActorName, Subject } from '../data/names.ts';
import { DeliveryState } from '../webhooks/state.ts';
import { EVENTS } from './filters.ts';

type Event = EventTrace['events'][number];
export type Cause = {
  readonly event: Event;
  readonly caused: readonly Cause[];
  readonly deliveries: readonly Delivery[];
};

/** The events as trees of causes. Events without a cause among them are the roots. */
export const causesOf = ({
  events,
  deliveries = [],
}: Pick<EventTrace, 'events' | 'deliveries'>): readonly Cause[] => {
  const ids = new Set(events.map(({ id }) => id));
  const byCause = Map.groupBy(events, ({ causation }) =>
    causation && ids.has(causation) ? causation : undefined,
  );
  const sent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  const causeOf = (event: Event): Cause => ({
    event,
    caused: (byCause.get(event.id) ?? []).map(causeOf),
    deliveries: sent.get(event.id) ?? [],
  });
  return (byCause.get(undefined) ?? []).map(causeOf);
};

/** From the request to all its consequences: events, what followed from each, and their deliveries. */
export const Why = ({ id }: { readonly id: string }) => {
  const asked = useAsked<EventTrace>(`/events/${id}/trace`);
  return html`<section id="why" aria-labelledby="why-title"><h2 id="why-title" tabindex="-1">Causes and consequences</h2>
    <${Whole} asked=${asked} show=${(trace: EventTrace) => html`<${Tree} trace=${trace} id=${id} />`} /></section>`;
};

const Tree = ({ trace, id }: { readonly trace: EventTrace; readonly id: string }) => {
  const { correlation, events, truncated } = trace;
  const causes = causesOf(trace);
  const first = events[0];
  return html`
    <ul class="tree">
      <li>
        <div class="node request">
          <strong>Request</strong> by <${ActorName} actor=${first?.actor ?? null} />${first?.client && html` through <${Through} client=${first.client} />`}
          ${correlation === undefined ? html`<span class="soft"> Only the sender and administrators see which request it was.</span>` : html` <a href=${`${EVENTS}?correlation=${encodeURIComponent(correlation)}`}><code>${shortText(correlation)}</code></a>`}
        </div>
        <${Branches} causes=${causes} id=${id} />
      </li>
    </ul>
    ${truncated && html`<p class="soft">There is more: <a href=${`${EVENTS}?correlation=${encodeURIComponent(correlation ?? '')}`}>all events of this request</a>.</p>`}`;
};

const Branches = ({ causes, id }: { readonly causes: readonly Cause[]; readonly id: string }) =>
  causes.length === 0
    ? null
    : html`<ul>${causes.map((cause) => html`<${Branch} key=${cause.event.id} cause=${cause} id=${id} />`)}</ul>`;

/** Senders of the inbox are among the parts of the system. */
const isReaction = (actor: string | null): boolean => /^system:(?!inbox-|schedule-)/.test(actor ?? '');

const Branch = ({
  cause: { event, caused, deliveries },
  id,
}: {
  readonly cause: Cause;
  readonly id: string;
}) => {
  const isThis = event.id === id;
  return html`<li>
    <div class=${isThis ? 'node this' : 'node'} aria-current=${isThis ? 'true' : null}>
      ${isThis ? html`<strong>${eventText(event.type)}</strong>` : html`<a href=${`${EVENTS}/${event.id}`}><strong>${eventText(event.type)}</strong></a>`}
      ${' '}<${Subject} subject=${event.subject} />${isThis && html` <span class="soft">(this event)</span>`}
      <br /><span class="soft"><${Time} at=${event.at} clock /><${ImportedAt} at=${event.importedAt} />${isReaction(event.actor) ? html`, as a reaction by the <${ActorName} actor=${event.actor} />` : html`, by <${ActorName} actor=${event.actor} />`}</span>
    </div>
    ${
      caused.length + deliveries.length > 0 &&
      html`<ul>
      ${deliveries.map((delivery) => html`<${Sent} key=${delivery.webhookId} delivery=${delivery} />`)}
      ${caused.map((each) => html`<${Branch} key=${each.event.id} cause=${each} id=${id} />`)}
    </ul>`
    }
  </li>`;
};

const Sent = ({
  delivery: { id, webhookId, state, attempts, lastStatus, lastError },
}: {
  readonly delivery: Delivery;
}) => html`<li>
  <div class="node delivery">
    <a href=${`/console/webhooks/${webhookId}/deliveries/${id}`}>Delivery to <${Subject} subject=${`webhook-${webhookId}`} plain /></a> <${DeliveryState} delivery=${{ state, attempts: 0 }} />
    <br /><span class="soft">${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${lastError === null ? lastStatus && `, answered ${lastStatus}` : `: ${lastError}`}</span>
  </div>
</li>`;
