import type { FieldFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { sortedBy } from './columns.ts';
import { withFilter } from './list-filters.ts';
import { NAME_OF_ORDER, nextOrder } from './short-lists.ts';

type Ordered = {
  readonly at: string;
  readonly search: URLSearchParams;
  readonly sorts: readonly string[];
  /** The order that the browser applies; undefined if it applies none. */
  readonly orderHere?: string;
};

/** The head of a column, which orders the list if possible. */
export const headOf = (field: FieldFacts, { at, search, sorts, orderHere }: Ordered) => {
  const byServer = sortedBy(field, sorts, orderHere ? undefined : (search.get('sort') ?? sorts[0]));
  if (byServer !== undefined)
    return sortedHead(field, byServer.state, withFilter(at, search, 'sort', byServer.next));
  if (orderHere === undefined || field.type === 'upload') return { label: field.title };
  const state =
    orderHere === field.name ? 'ascending' : orderHere === `-${field.name}` ? 'descending' : 'none';
  return sortedHead(field, state, withFilter(at, search, NAME_OF_ORDER, nextOrder(field.name, orderHere)));
};

const ARROWS = { ascending: '↑', descending: '↓', none: '↕' };

const sortedHead = ({ title }: FieldFacts, state: keyof typeof ARROWS, href: string) => ({
  name: title,
  sorted: state,
  label: html`<a class="sort" href=${href}>${title} <span aria-hidden="true">${ARROWS[state]}</span></a>`,
});
