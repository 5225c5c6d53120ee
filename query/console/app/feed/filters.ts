import { useAsked } from '../asking.ts';
import { html } from '../html.ts';
import { exampleOf, kinds } from '../kinds.ts';
import { put } from '../router.ts';

type EventType = { readonly type: string };

/** What the address says, as the stream is asked for it. */
export const queryOf = (search: URLSearchParams): string => {
  const query = new URLSearchParams();
  for (const name of ['types', 'subject', 'actor', 'since']) {
    const text = search.get(name)?.trim();
    if (text) query.set(name, text);
  }
  return query.size === 0 ? '' : `?${query}`;
};

/** They stand in the address, so that a filtered feed can be given to somebody else. */
export const Filters = ({ search }: { readonly search: URLSearchParams }) => {
  const { body: types = [] } = useAsked<readonly EventType[]>('/event-types');
  const set = (name: string, text: string) => {
    const changed = new URLSearchParams(search);
    if (text === '') changed.delete(name);
    else changed.set(name, text);
    put(`/console/feed${queryOf(changed)}`);
  };
  const given = search.get('types') ?? '';
  const known = [...new Set([...types.map(({ type }) => type), ...(given === '' ? [] : [given])])];
  const onChange = (name: string) => (event: Event) => set(name, (event.currentTarget as HTMLInputElement).value);
  return html`<form class="filters" role="search" aria-label="Filter the feed" onSubmit=${(event: Event) => event.preventDefault()}>
    <label>Type <select value=${given} onChange=${onChange('types')}>
      <option value="">all</option>
      ${known.map((type) => html`<option value=${type}>${type}</option>`)}
    </select></label>
    <label>Item <input type="text" placeholder=${exampleOf(kinds()[1])} spellcheck="false" autocapitalize="off" value=${search.get('subject') ?? ''} onChange=${onChange('subject')} /></label>
    <label>By <input type="text" placeholder="user:7001" spellcheck="false" autocapitalize="off" value=${search.get('actor') ?? ''} onChange=${onChange('actor')} /></label>
  </form>`;
};
