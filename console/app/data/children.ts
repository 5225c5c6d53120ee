import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { useChanges } from '../feed/live.ts';
import { HAL, kindAt, type Page, pageOfItem, titleOf, useDomain } from './domain.ts';
import { ItemTable, Pager } from './list.ts';
import { NotThere } from './not-there.ts';

const LIMIT = 25;

export const DataChildren = ({ route: { parameters, search } }: { readonly route: Route }) => {
  const domain = useDomain();
  const [kind, child] = [kindAt(domain, parameters.kind), kindAt(domain, parameters.child)];
  const { id = '' } = parameters;
  const above = `/${kind?.path}/${encodeURIComponent(id)}`;
  const parent = useAsked<Readonly<Record<string, unknown>>>(above);
  const query = new URLSearchParams([...search, ['limit', String(LIMIT)]]);
  const asked = useAsked<Page>(`${above}/${child?.path}?${query}`, undefined, HAL);
  useChanges(child && kind && `types=${child.name}.*&${kind.name}=${encodeURIComponent(id)}`, asked.reload);
  if (kind === undefined || child === undefined) return html`<${NotThere} />`;
  return html`
    <p class="back"><a href=${pageOfItem(kind, id)}><bdi>${parent.body ? titleOf(kind, parent.body) : kind.title}</bdi></a></p>
    <${Heading} title=${child.plural} />
    <${Whole} asked=${asked} show=${({ _embedded: { items }, _links }: Page) => html`
      <${ItemTable} kind=${child} items=${items} common=${child.parent?.field} />
      <${Pager} at=${`${pageOfItem(kind, id)}/under/${child.path}`} search=${search} previous=${_links.prev} next=${_links.next} />`} />`;
};
