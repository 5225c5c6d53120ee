import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { put } from '../base/router.ts';
import { choosableOf, chosenColumns, columnsOf, sortText } from './columns.ts';
import { pageOf } from './domain.ts';
import { BOOLEANS, truthText } from './form.ts';
import { keepColumns } from './kept-columns.ts';
import { ReferenceControl } from './reference.ts';
import { filteredHere, NAME_OF_ORDER, nameOfFilter } from './short-lists.ts';
import { wordText } from './value.ts';

const SETTLES_MS = 250;

/** The address with one filter changed, from the first page on. */
export const withFilter = (at: string, search: URLSearchParams, name: string, value: string): string => {
  // An order of the server replaces that of the browser.
  const replaced = [name, 'after', 'before', ...(name === 'sort' ? [NAME_OF_ORDER] : [])];
  const kept = new URLSearchParams([...search].filter(([each]) => !replaced.includes(each)));
  if (value !== '') kept.set(name, value);
  const query = kept.toString();
  return query === '' ? at : `${at}?${query}`;
};

type NarrowOptions = {
  /** The address of the whole list. */
  readonly at: string;
  readonly search: URLSearchParams;
  readonly isNarrowed: boolean;
  readonly fields: readonly FieldFacts[];
  readonly list: Pick<KindFacts['list'], 'filters' | 'sorts'> & { readonly hasSearch?: boolean };
  readonly children?: ComponentChildren;
};

/** The search, filters and order of a list; all of them are in the address. */
export const ListFilters = ({
  at,
  search,
  isNarrowed,
  fields,
  list: { hasSearch, filters, sorts },
  children,
}: NarrowOptions) => {
  const set = (name: string) => (value: string) => put(withFilter(at, search, name, value));
  const nameOfSort = (name: string) => fields.find((field) => field.name === name)?.title ?? wordText(name);
  const sort = search.get('sort') ?? sorts[0];
  return html`<search class="filters">
    ${hasSearch && html`<${Words} value=${search.get('q') ?? ''} set=${set('q')} />`}
    ${filters.map((field) => html`<${Filter} key=${field.name} field=${field} value=${search.get(field.name) ?? ''} set=${set(field.name)} />`)}
    ${
      sorts.length > 2 &&
      html`<label>Order <select onChange=${(event: Event) => set('sort')((event.currentTarget as HTMLSelectElement).value)}>
        ${sorts.map((each) => html`<option value=${each === sorts[0] ? '' : each} selected=${each === sort}>${sortText(each, nameOfSort)}</option>`)}
      </select></label>`
    }
    ${children}
    ${isNarrowed && html`<a class="button quiet" href=${at}>Clear</a>`}
  </search>`;
};

type OfKind = { readonly kind: KindFacts; readonly search: URLSearchParams };

/** Filters by the fields for which the server has no filter. */
export const MoreFilters = ({ kind, search }: OfKind) => {
  const [added, setAdded] = useState<readonly string[]>([]);
  const at = pageOf(kind);
  const all = filteredHere(kind);
  const isUsed = (field: FieldFacts) => added.includes(field.name) || search.has(nameOfFilter(field));
  const unused = all.filter((field) => !isUsed(field));
  const add = (event: Event) => setAdded([...added, (event.currentTarget as HTMLSelectElement).value]);
  return html`${all.filter(isUsed).map((field) => {
    const name = nameOfFilter(field);
    return html`<${Filter} key=${name} field=${field} value=${search.get(name) ?? ''} set=${(value: string) => put(withFilter(at, search, name, value))} />`;
  })}
  ${
    unused.length > 0 &&
    html`<select aria-label="More filters" value="" onChange=${add}>
      <option value="">More filters …</option>
      ${unused.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}
    </select>`
  }`;
};

/** The address of the same page of a list with other columns. */
export const withColumns = (
  kind: KindFacts,
  search: URLSearchParams,
  columns: string | undefined,
): string => {
  const kept = new URLSearchParams(search);
  kept.delete('columns');
  if (columns !== undefined) kept.set('columns', columns);
  return kept.size === 0 ? pageOf(kind) : `${pageOf(kind)}?${kept}`;
};

/** Chooses the columns, which are in the address. */
export const Columns = ({ kind, search }: OfKind) => {
  const [isOpen, setOpen] = useState(false);
  const usual = columnsOf(kind).map(({ name }) => name);
  const shown = chosenColumns(kind, search.get('columns')).map(({ name }) => name);
  const choosable = choosableOf(kind);
  const toggle = (name: string) => {
    const next = choosable
      .map((each) => each.name)
      .filter((each) => (each === name) !== shown.includes(each));
    const chosen = next.join() === usual.join() ? undefined : next.join();
    keepColumns(kind.name, chosen);
    put(withColumns(kind, search, chosen));
  };
  return html`<details class="columns" onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary class="button">Columns</summary>
    ${
      isOpen &&
      html`<div class="choosable">${choosable.map(
        ({ name, title }) =>
          html`<label class="choice"><input type="checkbox" checked=${shown.includes(name)} onChange=${() => toggle(name)} /><span>${title}</span></label>`,
      )}</div>`
    }
  </details>`;
};

/** Text being typed survives re-rendering of the list, until the address has another text. */
const useText = (value: string): readonly [text: string, setText: (text: string) => void] => {
  const [text, setText] = useState(value);
  const seen = useRef(value);
  // Not the value of the first rendering: by the time this runs, the user may be typing already.
  useEffect(() => {
    if (seen.current !== value) setText((before) => (before.trim() === value ? before : value));
    seen.current = value;
  }, [value]);
  return [text, setText];
};

/** While the user types, nothing is requested. */
const Words = ({ value, set }: { readonly value: string; readonly set: (value: string) => void }) => {
  const [text, setText] = useText(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = (event: Event) => {
    const { value: given } = event.currentTarget as HTMLInputElement;
    setText(given);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set(given.trim()), SETTLES_MS);
  };
  return html`<label class="words">Search <input type="search" dir="auto" value=${text} maxlength="200" aria-keyshortcuts="/" onInput=${onInput} /></label>`;
};

type FilterOptions = {
  readonly field: FieldFacts;
  readonly value: string;
  readonly set: (value: string) => void;
};

const Filter = ({ field, value, set }: FilterOptions) => {
  const id = useId();
  const onChange = (event: Event) => set((event.currentTarget as HTMLInputElement).value.trim());
  if (field.type === 'ref')
    return html`<div class="filter"><label for=${id}>${field.title}</label>
      <${ReferenceControl} field=${field} value=${value} change=${set} attributes=${{ id }} none="Any" /></div>`;
  const words = field.type === 'boolean' ? BOOLEANS : field.values;
  if (words === undefined) return html`<${TextFilter} field=${field} value=${value} set=${set} />`;
  return html`<label>${field.title} <select onChange=${onChange}>
    <option value="" selected=${value === ''}>Any</option>
    ${words.map((word) => html`<option value=${word} selected=${word === value}>${field.type === 'boolean' ? truthText(word) : wordText(word)}</option>`)}
  </select></label>`;
};

const TextFilter = ({ field, value, set }: FilterOptions) => {
  const [text, setText] = useText(value);
  const textOf = ({ currentTarget }: Event) => (currentTarget as HTMLInputElement).value;
  const example = field.type === 'date' || field.type === 'instant' ? '2026-12' : null;
  return html`<label>${field.title} <input type="text" placeholder=${example} dir="auto" spellcheck="false" autocapitalize="off" value=${text} onInput=${(event: Event) => setText(textOf(event))} onChange=${(event: Event) => set(textOf(event).trim())} /></label>`;
};
