import { plural } from '#shared/format.ts';
import type { ViewFacts } from '../../domain-facts.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Table, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { useStream } from '../feed/live.ts';
import { HAL, type Me, type Page, useDomain } from './domain.ts';
import type { Links } from './links.ts';
import { Pager } from './list.ts';
import { ListFilters } from './list-filters.ts';
import { headOf } from './list-heads.ts';
import { NotThere } from './not-there.ts';
import { Value } from './value.ts';

const LIMIT = 25;

export const pageOfView = ({ path }: ViewFacts): string => `/console/views/${path}`;
export const viewsFor = (views: readonly ViewFacts[], me: Me | undefined): readonly ViewFacts[] =>
  views.filter(({ readers }) => readers.includes(me?.role ?? ''));

/** The rows of a view that the user may read, live. */
export const DataRows = ({ route: { parameters, search } }: { readonly route: Route }) => {
  const view = useDomain().views.find(({ path }) => path === parameters.view);
  return view === undefined ? html`<${NotThere} />` : html`<${Rows} view=${view} search=${search} />`;
};

type Row = Readonly<Record<string, unknown>> & { readonly _links: Links };
type RowsOptions = { readonly view: ViewFacts; readonly search: URLSearchParams };

const Rows = ({ view, search }: RowsOptions) => {
  const at = pageOfView(view);
  const query = new URLSearchParams([...search, ['limit', String(LIMIT)]]);
  const asked = useAsked<Page<Row>>(`/${view.path}?${query}`, undefined, HAL);
  const kept = new URLSearchParams(
    [...search].filter(([name]) => view.filters.some((field) => field.name === name)),
  );
  useStream(`/${view.path}${kept.size === 0 ? '' : `?${kept}`}`, asked.reload);
  const head = { at, search, sorts: view.sorts };
  return html`
    <p class="back"><a href="/console/data">Data</a></p>
    <${Heading} title=${view.title} />
    ${view.says && html`<p class="soft">${view.says}</p>`}
    <${ListFilters} at=${at} search=${search} isNarrowed=${kept.size > 0} fields=${view.fields} list=${view} />
    <${Whole} asked=${asked} show=${({ _embedded: { items }, _links }: Page<Row>) => html`
      <p class="unseen" role="status">${plural(items.length, 'row')} shown.</p>
      ${
        items.length === 0
          ? html`<div class="empty"><p>There are no rows that you may read${kept.size > 0 ? ' and that match' : ''}.</p></div>`
          : html`<${Table} caption=${view.title} items=${items} keyOf=${({ _links: { self } }: Row) => self?.href ?? ''}
              columns=${view.fields.map((field) => ({
                ...headOf(field, head),
                numeric: field.type === 'integer',
                cell: (row: Row) =>
                  html`<${Value} field=${field} value=${row[field.name]} links=${row._links} isCell />`,
              }))} />`
      }
      <${Pager} at=${at} search=${search} previous=${_links.prev} next=${_links.next} />`} />`;
};
