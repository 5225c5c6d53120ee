import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { put } from '../base/router.ts';
import { useDomain } from '../data/domain.ts';
import { ActorFilter, ItemFilter } from '../data/finder.ts';

export const EVENTS = '/console/events';

/**
 * The filters of the request, with their names in addresses. The first name is ours; the others are what
 * people write by hand.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  types: ['types'],
  subject: ['subject'],
  actor: ['by', 'actor'],
  client: ['client'],
  correlation: ['correlation'],
  text: ['text'],
  since: ['since'],
  until: ['until'],
};

/** The query for the interface from the address: `by=7001` is a user, and times without a zone are local. */
export const queryOf = (search: URLSearchParams): string => {
  const query = new URLSearchParams();
  for (const [name, names] of Object.entries(NAMES)) {
    const text = names.map((each) => search.get(each)?.trim()).find(Boolean);
    if (text) query.set(name, askedFor(name, text));
  }
  return query.toString();
};

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

const askedFor = (name: string, text: string): string => {
  if (name === 'actor' && /^\d+$/.test(text)) return `user:${text}`;
  return (name === 'since' || name === 'until') && LOCAL_TIME.test(text)
    ? new Date(text).toISOString()
    : text;
};

/** The address with one filter changed, starting at the newest event. */
export const pageWith = (search: URLSearchParams, name: string, text: string): string => {
  const kept = new URLSearchParams(
    [...search].filter(([each]) => ![...(NAMES[name] ?? []), 'before'].includes(each)),
  );
  if (text.trim() !== '') kept.set(NAMES[name]?.[0] ?? name, text.trim());
  return kept.size === 0 ? EVENTS : `${EVENTS}?${kept}`;
};

type EventType = { readonly type: string };

/** The filters are in the address, so that it can be shared. */
export const Filters = ({ search }: { readonly search: URLSearchParams }) => {
  const write = (name: string) => (text: string) => put(pageWith(search, name, text));
  const set = (name: string) => (event: Event) =>
    write(name)((event.currentTarget as HTMLInputElement).value);
  const given = (name: string) => NAMES[name]?.map((each) => search.get(each)).find(Boolean) ?? '';
  const field = (name: string, label: string, more: object = {}) =>
    html`<label>${label} <input type="text" dir="auto" spellcheck="false" autocapitalize="off" value=${given(name)} onChange=${set(name)} ...${more} /></label>`;
  return html`<search class="filters">
    <${Types} value=${given('types')} onChange=${set('types')} />
    <${ItemFilter} value=${given('subject')} set=${write('subject')} />
    <${ActorFilter} value=${given('actor')} set=${write('actor')} />
    ${field('client', 'Through', { placeholder: 'console' })}
    ${field('text', 'Text in the data', { type: 'search', minlength: 2, maxlength: 200 })}
    ${field('since', 'From', { type: 'datetime-local', value: localTime(given('since')) })}
    ${field('until', 'Until', { type: 'datetime-local', value: localTime(given('until')) })}
    ${given('correlation') !== '' && field('correlation', 'Request')}
    ${queryOf(search) !== '' && html`<a class="button quiet" href=${EVENTS}>Clear</a>`}
  </search>`;
};

const MINUTE_MS = 60_000;
const MINUTES = 'yyyy-mm-ddThh:mm'.length;

/** The format of the browser’s input field. */
const localTime = (text: string): string => {
  if (text === '' || LOCAL_TIME.test(text)) return text;
  const at = new Date(text);
  return Number.isNaN(at.getTime())
    ? ''
    : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, MINUTES);
};

/** Offers each aggregate as a whole, and each of its event types. */
const Types = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (event: Event) => void;
}) => {
  const { body: types = [] } = useAsked<readonly EventType[]>('/event-types');
  const { kinds: declared } = useDomain();
  const families = Map.groupBy(types, ({ type }) => type.slice(0, type.indexOf('.')));
  const titleOf = (name: string) => declared.find((kind) => kind.name === name)?.plural ?? name;
  const known = [...families].flatMap(([family, each]) => [`${family}.*`, ...each.map(({ type }) => type)]);
  const option = (each: string, label: string) =>
    html`<option value=${each} selected=${each === value}>${label}</option>`;
  return html`<label>Type <select onChange=${onChange}>
    <option value="" selected=${value === ''}>all</option>
    ${value !== '' && !known.includes(value) && option(value, value)}
    ${[...families].map(
      ([family, each]) =>
        html`<optgroup label=${titleOf(family)}>${option(`${family}.*`, `${family}.*`)}${each.map(({ type }) => option(type, type))}</optgroup>`,
    )}
  </select></label>`;
};
