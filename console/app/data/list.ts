import { useEffect, useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import type { KindFacts } from '../../domain-facts.ts';
import { useActions } from '../base/actions.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Table, Whole } from '../base/parts.ts';
import { put, type Route } from '../base/router.ts';
import { useChanges } from '../feed/live.ts';
import { Bulk } from './bulk.ts';
import { chosenColumns, columnsOf } from './columns.ts';
import { HAL, kindAt, type Page, pageOf, pageOfItem, titleOf, useDomain } from './domain.ts';
import { keptColumns } from './kept-columns.ts';
import type { Item, Link } from './links.ts';
import { Columns, ListFilters, MoreFilters, withColumns, withFilter } from './list-filters.ts';
import { headOf } from './list-heads.ts';
import { NotThere } from './not-there.ts';
import { isOfBrowser, NAME_OF_ORDER, narrowed, narrowingIn, SHORT_MAX } from './short-lists.ts';
import { Value } from './value.ts';

const LIMIT = 25;

/** All items of a kind, with the search, filters, order and page in the address. */
export const DataList = ({ route: { parameters, search } }: { readonly route: Route }) => {
  const kind = kindAt(useDomain(), parameters.kind);
  return kind?.list.path === undefined
    ? html`<${NotThere} />`
    : html`<${KindList} kind=${kind} path=${kind.list.path} search=${search} />`;
};

type KindListOptions = { readonly kind: KindFacts; readonly path: string; readonly search: URLSearchParams };

const KindList = ({ kind, path, search }: KindListOptions) => {
  const narrowing = narrowingIn(kind, search);
  const query = new URLSearchParams([
    ...[...search].filter(([name]) => name !== 'columns' && !isOfBrowser(name)),
    ['limit', String(narrowing === undefined ? LIMIT : SHORT_MAX)],
  ]);
  const asked = useAsked<Page>(`${path}?${query}`, undefined, HAL);
  useChanges(`types=${kind.name}.*`, asked.reload);
  useActions([
    { says: 'Next item', keys: 'j', to: () => step(1), isKeyOnly: true },
    { says: 'Previous item', keys: 'k', to: () => step(-1), isKeyOnly: true },
    { says: 'Choose the item', keys: 'x', to: pick, isKeyOnly: true },
    ...(asked.body?._links.create
      ? [{ says: `New ${kind.title.toLowerCase()}`, keys: 'n', to: `${pageOf(kind)}/new` }]
      : []),
  ]);
  // The menu leads to the list without columns; those of an address that has some are shown, and not kept.
  useEffect(() => {
    const kept = keptColumns(kind.name);
    if (kept !== null && !search.has('columns')) put(withColumns(kind, search, kept));
  }, [kind, search]);
  const isFirst = search.has('before') && asked.body !== undefined && asked.body._links.prev === undefined;
  // Back on the first page, the address shows new items again.
  useEffect(() => {
    if (isFirst) put(withFilter(pageOf(kind), search, 'before', ''));
  }, [isFirst, kind, search]);
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  // Items no longer on the page are not chosen.
  const chosen = asked.body?._embedded.items.filter(({ id }) => picked.has(id)) ?? [];
  const isNarrowed = [...search.keys()].some(
    (name) => !['sort', 'columns', 'after', 'before', NAME_OF_ORDER].includes(name),
  );
  return html`
    <${Heading} title=${kind.plural}>${asked.body?._links.create && html`<a class="button primary" href=${`${pageOf(kind)}/new`} aria-keyshortcuts="n">New ${kind.title.toLowerCase()}</a>`}<//>
    <${ListFilters} at=${pageOf(kind)} search=${search} isNarrowed=${isNarrowed} fields=${kind.fields} list=${kind.list}><${MoreFilters} kind=${kind} search=${search} /><${Columns} kind=${kind} search=${search} /><//>
    <${Whole} asked=${asked} show=${({ _embedded, _links }: Page) => {
      const isWhole = _links.next === undefined && _links.prev === undefined;
      const items = narrowing && isWhole ? narrowed(_embedded.items, narrowing) : _embedded.items;
      return html`
      <p class="unseen" role="status">${plural(items.length, 'item')} shown.</p>
      ${narrowing && !isWhole && html`<p class="finding warn">More than ${SHORT_MAX} items: filter by other fields first. To filter or order any number of them, declare <code>filter()</code> or <code>sort()</code> at the field.</p>`}
      ${
        items.length === 0
          ? html`<${Nothing} kind=${kind} isNarrowed=${isNarrowed} />`
          : html`<${Bulk} kind=${kind} chosen=${chosen} clear=${() => setPicked(new Set())} reload=${asked.reload} />
            <${ItemTable} kind=${kind} items=${items} search=${search} picking=${{ picked, setPicked }} />`
      }
      <${Pager} at=${pageOf(kind)} search=${search} previous=${_links.prev} next=${_links.next} />`;
    }} />`;
};

/** Moves the focus to the next or previous title. */
const step = (by: number): void => {
  const titles = [...document.querySelectorAll<HTMLElement>('main a.title')];
  const at = titles.indexOf(document.activeElement as HTMLElement);
  titles[at === -1 ? 0 : Math.min(Math.max(at + by, 0), titles.length - 1)]?.focus();
};

/** Chooses the item whose title has the focus. */
const pick = (): void =>
  document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('.pick input')?.click();

const Nothing = ({
  kind,
  isNarrowed,
}: {
  readonly kind: KindFacts;
  readonly isNarrowed: boolean;
}) => html`<div class="empty">
  ${
    isNarrowed
      ? html`<p>No items match. <a href=${pageOf(kind)}>Show all ${kind.plural.toLowerCase()}.</a></p>`
      : html`<p>There are no ${kind.plural.toLowerCase()} that you may read.</p>`
  }</div>`;

type ItemTableOptions = {
  readonly kind: KindFacts;
  readonly items: readonly Item[];
  readonly common?: string | undefined;
  /** The query of the address, if the table follows it. */
  readonly search?: URLSearchParams;
  readonly picking?: Picking;
};
/** The items chosen for bulk commands. */
type Picking = {
  readonly picked: ReadonlySet<number>;
  readonly setPicked: (picked: ReadonlySet<number>) => void;
};

const pickColumn = (kind: KindFacts, items: readonly Item[], { picked, setPicked }: Picking) => {
  const isAll = items.every(({ id }) => picked.has(id));
  const toggle = (id: number) =>
    setPicked(picked.has(id) ? new Set([...picked].filter((each) => each !== id)) : new Set([...picked, id]));
  return {
    label: html`<input type="checkbox" aria-label="Choose all" checked=${isAll} onChange=${() => setPicked(isAll ? new Set() : new Set(items.map(({ id }) => id)))} />`,
    class: 'pick',
    cell: (item: Item) =>
      html`<input type="checkbox" aria-label=${`Choose ${titleOf(kind, item)}`} checked=${picked.has(item.id)} onChange=${() => toggle(item.id)} />`,
  };
};

/** Types that need a label in cards, which have no column heads. */
const LABELLED = ['integer', 'date', 'instant', 'boolean'];

/** Items with their main fields; the title links to the item. */
export const ItemTable = ({ kind, items, common, search, picking }: ItemTableOptions) => html`<${Table}
  caption=${kind.plural}
  class="items"
  items=${items}
  keyOf=${({ id }: Item) => String(id)}
  columns=${[
    ...(picking ? [pickColumn(kind, items, picking)] : []),
    {
      label: kind.title,
      class: 'first',
      cell: (item: Item) =>
        html`<a class="title" href=${pageOfItem(kind, item.id)} dir="auto">${titleOf(kind, item)}</a>`,
    },
    ...(search ? chosenColumns(kind, search.get('columns')) : columnsOf(kind, common)).map((field) => ({
      ...(search
        ? headOf(field, {
            at: pageOf(kind),
            search,
            sorts: kind.list.sorts,
            orderHere: search.get(NAME_OF_ORDER) ?? '',
          })
        : { label: field.title }),
      numeric: field.type === 'integer',
      class: LABELLED.includes(field.type) ? 'labelled' : '',
      cell: (item: Item) =>
        html`<${Value} field=${field} value=${item[field.name]} links=${item._links} isCell />`,
    })),
  ]}
/>`;

type PagerOptions = {
  /** The address of the first page. */
  readonly at: string;
  readonly search: URLSearchParams;
  readonly previous: Link | undefined;
  readonly next: Link | undefined;
};

export const Pager = ({ at, search, previous, next }: PagerOptions) =>
  (previous ?? next) &&
  html`<nav class="pager" aria-label="Pages">
    ${previous ? html`<a class="button" rel="prev" href=${turned(at, search, previous)}>Previous</a>` : null}
    ${next ? html`<a class="button" rel="next" href=${turned(at, search, next)}>Next</a>` : null}
  </nav>`;

/** The address of the page that a link of the list points to. */
const turned = (at: string, search: URLSearchParams, { href }: Link): string => {
  const place = new URLSearchParams(href.split('?')[1]);
  const kept = new URLSearchParams([...search].filter(([name]) => name !== 'after' && name !== 'before'));
  for (const name of ['after', 'before']) {
    const cursor = place.get(name);
    if (cursor !== null) kept.set(name, cursor);
  }
  return `${at}?${kept}`;
};
