import type { Delivery, ShownDeliveryState } from '#shared/rest/deliveries.ts';
import { usePages } from '../asking.ts';
import { html } from '../html.ts';
import { Subject } from '../names.ts';
import { Badge, Listing } from '../parts.ts';
import { put } from '../router.ts';
import { Time } from '../time.ts';

const EVERY_MS = 5_000;
const STATES: readonly ShownDeliveryState[] = ['due', 'delivered', 'dead', 'withheld'];

export const DeliveryState = ({ state }: { readonly state: ShownDeliveryState }) => {
  const tone = { due: 'warn', delivered: 'good', dead: 'bad', withheld: 'plain' }[state];
  return html`<${Badge} tone=${tone}>${state}<//>`;
};

/** What was sent to an endpoint, or is to be, the latest first. */
export const Deliveries = ({ webhookPath, search }: { readonly webhookPath: string; readonly search: URLSearchParams }) => {
  const wanted = STATES.find((state) => state === search.get('state'));
  const pages = usePages<Delivery>(`${webhookPath}/deliveries${wanted === undefined ? '' : `?state=${wanted}`}`, EVERY_MS);
  const choose = (state: ShownDeliveryState | undefined) => put(`/console${webhookPath}${state === undefined ? '' : `?state=${state}`}`);
  return html`<section>
    <h2>Deliveries</h2>
    <div class="bar" role="group" aria-label="Which deliveries">
      ${[undefined, ...STATES].map((state) => html`<button type="button" aria-pressed=${state === wanted} onClick=${() => choose(state)}>${state ?? 'all'}</button>`)}
    </div>
    <${Listing}
      pages=${pages}
      caption="Deliveries, the latest first"
      keyOf=${({ id }: Delivery) => id}
      empty=${html`<p>${wanted === undefined ? 'Nothing was to be sent yet. Each change that this endpoint is told of stands here, from the moment it is due.' : `No delivery is ${wanted}.`}</p>`}
      columns=${[
        { label: 'Event', cell: ({ id, type }: Delivery) => html`<a href=${`/console${webhookPath}/deliveries/${id}`}>${type}</a>` },
        { label: 'Item', cell: ({ subject }: Delivery) => html`<${Subject} subject=${subject} />` },
        { label: 'State', cell: ({ state }: Delivery) => html`<${DeliveryState} state=${state} />` },
        { label: 'Attempts', numeric: true, cell: ({ attempts }: Delivery) => attempts },
        {
          label: 'Last answer',
          cell: ({ lastStatus, lastError }: Delivery) => lastError ?? lastStatus ?? html`<span class="soft">–</span>`,
        },
        { label: 'Planned', cell: ({ createdAt }: Delivery) => html`<${Time} at=${createdAt} clock />` },
        { label: 'Next', cell: ({ nextAt }: Delivery) => html`<${Time} at=${nextAt} clock />` },
      ]}
    />
  </section>`;
};
