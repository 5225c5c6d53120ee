import type { KindFacts, ListFacts } from '../../domain-facts.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Table, Whole } from '../base/parts.ts';
import { HAL, type Page } from '../data/domain.ts';
import type { Item, Links } from '../data/links.ts';
import { fieldsShown } from '../data/parts-of-item.ts';
import { Value } from '../data/value.ts';
import { Difference, differing } from './compare.ts';

type Listed = Readonly<Record<string, unknown>> & { readonly _links: Links };

const ITEMS_MAX = 100;

/** The items of a list at the time of the item, whose link has that time. */
const useListed = (list: ListFacts, item: Item) => {
  const [path = '', query = ''] = (item._links[list.path]?.href ?? '').split('?');
  const asked = new URLSearchParams(query);
  asked.set('limit', String(ITEMS_MAX));
  return useAsked<Page<Listed>>(`${path}?${asked}`, undefined, HAL);
};

type PastOptions = { readonly kind: KindFacts; readonly item: Item };

/** The lists of a former state, as far as the user may read them. */
export const PastLists = ({ kind, item }: PastOptions) =>
  html`${kind.lists.map((list) => item._links[list.path] && html`<${PastList} key=${list.name} list=${list} item=${item} />`)}`;

const PastList = ({ list, item }: { readonly list: ListFacts; readonly item: Item }) => {
  const asked = useListed(list, item);
  const show = ({ _embedded: { items } }: Page<Listed>) =>
    items.length === 0
      ? html`<p class="soft">None.</p>`
      : html`<${Table}
          caption=${`${list.title} then`}
          items=${items}
          keyOf=${(each: Listed) => String(each[list.id])}
          columns=${fieldsShown(list).map((field) => ({
            label: field.title,
            numeric: field.type === 'integer',
            cell: (each: Listed) =>
              html`<${Value} field=${field} value=${each[field.name]} links=${each._links} isCell />`,
          }))}
        />`;
  return html`<h3>${list.title}</h3><${Whole} asked=${asked} show=${show} />`;
};

type DifferenceOptions = { readonly kind: KindFacts; readonly from: Item; readonly to: Item };

/** The differences in the lists of two states. */
export const ListDifferences = ({ kind, from, to }: DifferenceOptions) =>
  html`${kind.lists.map(
    (list) =>
      from._links[list.path] &&
      to._links[list.path] &&
      html`<${ListDifference} key=${list.name} list=${list} from=${from} to=${to} />`,
  )}`;

const ABSENT: Listed = { _links: {} };

const ListDifference = ({
  list,
  from,
  to,
}: Omit<DifferenceOptions, 'kind'> & { readonly list: ListFacts }) => {
  const [before, after] = [useListed(list, from), useListed(list, to)];
  if (before.body === undefined || after.body === undefined) return null;
  const changed = changedItems(list, before.body._embedded.items, after.body._embedded.items);
  if (changed.length === 0) return null;
  return html`<h3>${list.title}</h3>
    ${changed.map(
      ({
        id,
        was,
        is,
      }) => html`<section key=${id}><h4>${list.one.charAt(0).toUpperCase() + list.one.slice(1)} ${id} <span class="soft">${wordFor(was, is)}</span></h4>
        <${Difference} kind=${list} from=${was} to=${is} names=${fieldsShown(list).flatMap(({ name }) => (differing(was, is).includes(name) ? [name] : []))} /></section>`,
    )}`;
};

type ChangedItem = { readonly id: string; readonly was: Listed; readonly is: Listed };

/** The items that differ, compared by key. */
export const changedItems = (
  { id: key }: Pick<ListFacts, 'id'>,
  before: readonly Listed[],
  after: readonly Listed[],
): readonly ChangedItem[] => {
  const byId = (items: readonly Listed[]) => new Map(items.map((item) => [String(item[key]), item]));
  const [earlier, later] = [byId(before), byId(after)];
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .map((id) => ({ id, was: earlier.get(id) ?? ABSENT, is: later.get(id) ?? ABSENT }))
    .filter(({ was, is }) => differing(was, is).length > 0);
};

const wordFor = (was: Listed, is: Listed): string => {
  if (was === ABSENT) return 'added';
  return is === ABSENT ? 'removed' : 'changed';
};
