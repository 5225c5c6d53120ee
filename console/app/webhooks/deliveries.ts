import type { FoundDelivery } from '#shared/rest/deliveries.ts';
import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Listing } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { Subject } from '../data/names.ts';
import { useChanged, useFresh } from '../feed/fresh.ts';
import { DeliveryFilters } from './filters.ts';
import { home, pageOfDelivery, shortUrl } from './home.ts';
import { nextOf } from './next.ts';
import { Resend } from './resend.ts';
import { queryOf } from './search.ts';
import { DeliveryState } from './state.ts';

/** Past and planned deliveries to all endpoints, failed ones included. */
export const DeliveriesPage = ({ route: { search } }: { readonly route: Route }) => html`
  <p class="back"><a href=${home()}>All webhooks</a></p>
  <${Heading} title="Deliveries" />
  <${Deliveries} at=${`${home()}/deliveries`} search=${search} />`;

type DeliveriesOptions = {
  /** The address of the page, whose query filters the list. */
  readonly at: string;
  readonly search: URLSearchParams;
  /** The endpoint, on the page of one. */
  readonly webhookId?: string | undefined;
  /** The health of the endpoint: a change of it refreshes the list. */
  readonly sign?: unknown;
};

export const Deliveries = ({ at, search, webhookId, sign }: DeliveriesOptions) => {
  const query = queryOf(search, webhookId === undefined ? {} : { webhookId });
  const pages = usePages<FoundDelivery>(`/deliveries${query.size === 0 ? '' : `?${query}`}`);
  useChanged(sign, pages.refresh);
  const turn = useFresh(pages.refresh, {
    query: webhookId === undefined ? 'types=*' : undefined,
    sign: pages.body,
    dueAt: nextOf((pages.body ?? []).map(({ nextAt }) => nextAt)),
  });
  const isNarrowed = [...search].length > 0;
  return html`
    <${DeliveryFilters} at=${at} search=${search} webhookId=${webhookId} />
    <${Resend} query=${query} found=${pages.body ?? []} hasMore=${pages.more !== undefined} sign=${pages.body && [pages.body, sign, turn]} done=${pages.reload} />
    <${Listing}
      pages=${pages}
      caption="Deliveries, the latest event first"
      keyOf=${({ id, webhookId: of }: FoundDelivery) => `${of} ${id}`}
      empty=${
        isNarrowed
          ? html`<p>No delivery matches. <a href=${at}>Show all.</a></p>`
          : html`<p>Nothing has been sent yet. Each matching event appears here as soon as it happens.</p>`
      }
      columns=${[
        {
          label: 'Event',
          cell: (delivery: FoundDelivery) => html`<a href=${pageOfDelivery(delivery)}>${delivery.type}</a>`,
        },
        { label: 'Item', cell: ({ subject }: FoundDelivery) => html`<${Subject} subject=${subject} />` },
        ...(webhookId === undefined
          ? [
              {
                label: 'Endpoint',
                cell: ({ webhookId: of, url }: FoundDelivery) =>
                  html`<a class="long" href=${`${home()}/${of}`}>${shortUrl(url)}</a>`,
              },
            ]
          : []),
        {
          label: 'State',
          cell: (delivery: FoundDelivery) => html`<${DeliveryState} delivery=${delivery} />`,
        },
        {
          label: 'Last response',
          cell: ({ lastError, lastStatus }: FoundDelivery) =>
            lastError ?? lastStatus ?? html`<span class="soft">–</span>`,
        },
        { label: 'Attempts', numeric: true, cell: ({ attempts }: FoundDelivery) => attempts },
        { label: 'Planned', cell: ({ createdAt }: FoundDelivery) => html`<${Time} at=${createdAt} clock />` },
        { label: 'Next attempt', cell: ({ nextAt }: FoundDelivery) => html`<${Time} at=${nextAt} clock />` },
      ]}
    />`;
};
