import type { ShownDeliveryState } from '#shared/rest/delivery.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { put } from '../base/router.ts';
import { isoOf, localOf } from '../base/time.ts';
import { ItemFilter } from '../data/finder.ts';
import { shortUrl } from './home.ts';
import { type FilterName, spansAt, withFilters } from './search.ts';

const STATES: Readonly<Record<ShownDeliveryState | 'failed', string>> = {
  failed: 'failed (dead, or waiting for a retry)',
  due: 'waiting',
  delivered: 'delivered',
  dead: 'dead (all attempts failed)',
  withheld: 'withheld',
};

type FiltersOptions = {
  /** The address of the page. */
  readonly at: string;
  readonly search: URLSearchParams;
  /** The endpoint, on the page of one. */
  readonly webhookId?: string | undefined;
};

/** The filters of a list of deliveries; all of them are in the address. */
export const DeliveryFilters = ({ at, search, webhookId }: FiltersOptions) => {
  const set = (changes: Partial<Record<FilterName, string>>) => put(at + withFilters(search, changes));
  const enteredIn = (event: Event) => (event.currentTarget as HTMLInputElement).value.trim();
  const text = (name: FilterName, label: string, placeholder: string) =>
    html`<label>${label} <input type="text" placeholder=${placeholder} spellcheck="false" autocapitalize="off" value=${search.get(name) ?? ''} onChange=${(event: Event) => set({ [name]: enteredIn(event) })} /></label>`;
  const time = (name: FilterName, label: string) =>
    html`<label>${label} <input type="datetime-local" value=${localOf(search.get(name))} onChange=${(event: Event) => set({ [name]: isoOf(enteredIn(event)) })} /></label>`;
  const isNarrowed = [...search].length > 0;
  return html`<search class="filters" aria-label="Filter the deliveries">
    <label>State <select onChange=${(event: Event) => set({ state: enteredIn(event) })}>
      <option value="" selected=${!search.get('state')}>Any</option>
      ${Object.entries(STATES).map(([state, label]) => html`<option value=${state} selected=${state === search.get('state')}>${label}</option>`)}
    </select></label>
    ${webhookId === undefined && html`<${EndpointFilter} value=${search.get('webhookId') ?? ''} set=${(value: string) => set({ webhookId: value })} />`}
    <${TypeFilter} value=${search.get('type') ?? ''} set=${(value: string) => set({ type: value })} />
    <${ItemFilter} value=${search.get('subject') ?? ''} set=${(value: string) => set({ subject: value })} />
    ${text('eventId', 'Event id (webhook-id)', '0199a1b2-…')}
    <${Span} search=${search} set=${set} />
    ${time('since', 'Planned since')}
    ${time('until', 'Planned before')}
    ${isNarrowed && html`<a class="button quiet" href=${at}>Clear</a>`}
  </search>`;
};

type SpanOptions = {
  readonly search: URLSearchParams;
  readonly set: (changes: Partial<Record<FilterName, string>>) => void;
};

/** The last hour changes all the time; days do not. */
const Span = ({ search, set }: SpanOptions) => {
  const spans = spansAt(new Date());
  const [since, until] = [search.get('since') ?? '', search.get('until') ?? ''];
  const chosen = spans.find(([, from, to]) => from === since && to === until)?.[0];
  const onChange = (event: Event) => {
    const [, from, to] =
      spans.find(([label]) => label === (event.currentTarget as HTMLSelectElement).value) ?? [];
    if (from !== undefined && to !== undefined) set({ since: from, until: to });
  };
  return html`<label>When <select onChange=${onChange}>
    ${chosen === undefined && html`<option selected>As below</option>`}
    ${spans.map(([label]) => html`<option value=${label} selected=${label === chosen}>${label}</option>`)}
  </select></label>`;
};

type ChoiceOptions = { readonly value: string; readonly set: (value: string) => void };

const EndpointFilter = ({ value, set }: ChoiceOptions) => {
  const { body: webhooks = [] } = useAsked<readonly Webhook[]>('/webhooks?limit=100');
  const known = webhooks.map(
    ({ id, url, description }) => [String(id), description ?? shortUrl(url)] as const,
  );
  return html`<${Choice} label="Endpoint" value=${value} set=${set} options=${known} />`;
};

const TypeFilter = ({ value, set }: ChoiceOptions) => {
  const { body: types = [] } = useAsked<readonly { readonly type: string }[]>('/event-types');
  return html`<${Choice} label="Event type" value=${value} set=${set} options=${types.map(({ type }) => [type, type] as const)} />`;
};

type Option = readonly [value: string, label: string];

/** Shows the value in the address, even if it is unknown. */
const Choice = ({
  label,
  value,
  set,
  options,
}: ChoiceOptions & { readonly label: string; readonly options: readonly Option[] }) => {
  const isKnown = value === '' || options.some(([each]) => each === value);
  return html`<label>${label} <select onChange=${(event: Event) => set((event.currentTarget as HTMLSelectElement).value)}>
    <option value="" selected=${value === ''}>Any</option>
    ${!isKnown && html`<option value=${value} selected>${value}</option>`}
    ${options.map(([each, shown]) => html`<option value=${each} selected=${each === value}>${shown}</option>`)}
  </select></label>`;
};
