import { useEffect, useState } from 'preact/hooks';
import type { FieldFacts, FormFieldFacts, KindFacts } from '../../domain-facts.ts';
import type { Api } from '../base/api.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { Combobox } from '../base/combobox.ts';
import { html } from '../base/html.ts';
import { HAL, kindNamed, type Page, titleOf, useDomain } from './domain.ts';
import { useName } from './names.ts';

type Option = { readonly id: string; readonly title: string };

const OPTIONS_MAX = 100;
const FOUND_MAX = 8;
const SETTLES_MS = 200;

const optionsOf = (kind: KindFacts, { _embedded }: Page): readonly Option[] =>
  _embedded.items.map((item) => ({ id: String(item.id), title: titleOf(kind, item) }));

/** The possible targets of a reference, if there is a list of them; the newest if there are many. */
const useOptions = (field: FieldFacts): { readonly options: readonly Option[]; readonly isAll: boolean } => {
  const kind = kindNamed(useDomain(), field.of);
  const asked = useAsked<Page>(
    kind?.list.path === undefined ? '/me' : `${kind.list.path}?limit=${OPTIONS_MAX}`,
    undefined,
    HAL,
  );
  // While loading, an empty list is shown.
  if (asked.body === undefined && asked.problem === undefined) return { options: [], isAll: true };
  if (kind === undefined || asked.body?._embedded === undefined) return { options: [], isAll: false };
  return { options: optionsOf(kind, asked.body), isAll: asked.body._links.next === undefined };
};

type Sought = { readonly text: string; readonly limit: number; readonly signal: AbortSignal };

/** Finds items for a text, by the search of the kind. */
export const findItems = async (
  api: Api,
  kind: KindFacts,
  { text, limit, signal }: Sought,
): Promise<readonly Option[]> => {
  const query = new URLSearchParams({ q: text, limit: String(limit) });
  const found = await api.get<Page>(`${kind.list.path}?${query}`, signal, HAL).catch(() => undefined);
  return found === undefined ? [] : optionsOf(kind, found.body);
};

const PAGES_MAX = 10;

/** Without a search, compares the text with the newest items. */
const lookThrough = async (
  api: Api,
  kind: KindFacts,
  { text, limit, signal }: Sought,
): Promise<readonly Option[]> => {
  const words = text.toLowerCase();
  const found: Option[] = [];
  let path: string | undefined = `${kind.list.path}?limit=${OPTIONS_MAX}`;
  for (let pages = 0; pages < PAGES_MAX && path !== undefined && found.length < limit; pages += 1) {
    const answer: { readonly body: Page } | undefined = await api
      .get<Page>(path, signal, HAL)
      .catch(() => undefined);
    if (answer === undefined) break;
    found.push(
      ...optionsOf(kind, answer.body).filter(
        ({ id, title }) => id === text || title.toLowerCase().includes(words),
      ),
    );
    path = answer.body._links.next?.href;
  }
  return found.slice(0, limit);
};

type ReferenceOptions = {
  readonly field: FieldFacts & Partial<Pick<FormFieldFacts, 'isRequired' | 'isNullable'>>;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The label of no target. */
  readonly none: string;
};

/** A list of names if all fit, otherwise a search; a number if there is no list. */
export const ReferenceControl = ({ field, value, change, attributes, none }: ReferenceOptions) => {
  const kind = kindNamed(useDomain(), field.of);
  const { options, isAll } = useOptions(field);
  const enter = (event: Event) => change((event.currentTarget as HTMLInputElement).value);
  if (!isAll && kind?.list.path !== undefined)
    return html`<${ReferenceSearch} kind=${kind} value=${value} change=${change} attributes=${attributes} none=${none} newest=${options} />`;
  if (!isAll)
    return html`<input type="text" inputmode="numeric" autocomplete="off" ...${attributes} value=${value} onInput=${enter} />`;
  const isKnown = value === '' || options.some(({ id }) => id === value);
  return html`<select ...${attributes} onChange=${enter}>
    ${(value === '' || !field.isRequired) && html`<option value="" selected=${value === ''}>${none}</option>`}
    ${!isKnown && html`<option value=${value} selected>${value}</option>`}
    ${options.map(({ id, title }) => html`<option value=${id} selected=${id === value}>${title}</option>`)}
  </select>`;
};

type SearchOptions = Pick<ReferenceOptions, 'value' | 'change' | 'attributes' | 'none'> & {
  readonly kind: KindFacts;
  readonly newest: readonly Option[];
};

/** Too many for a list: the newest until the user types, then the results. */
const ReferenceSearch = ({ kind, value, change, attributes, none, newest }: SearchOptions) => {
  const api = useApi();
  const name = useName(kind, value === '' ? undefined : Number(value));
  const [text, setText] = useState<string>();
  const [found, setFound] = useState<{ readonly text: string; readonly options: readonly Option[] }>();
  const sought = (text ?? '').trim();
  const isEmpty = sought === '';
  const choices = isEmpty ? newest.slice(0, FOUND_MAX) : found?.text === sought ? found.options : undefined;
  useEffect(() => {
    if (isEmpty) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const find = kind.list.hasSearch ? findItems : lookThrough;
      const options = await find(api, kind, { text: sought, limit: FOUND_MAX, signal: leaving.signal });
      if (!leaving.signal.aborted) setFound({ text: sought, options });
    }, SETTLES_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [api, kind, sought, isEmpty]);
  const write = (given: string) => {
    setText(given);
    if (given.trim() === '') change('');
  };
  const choose = ({ id }: Option) => {
    change(id);
    setText(undefined);
  };
  return html`<div class="reference" onFocusOut=${() => setText(undefined)}><${Combobox}
    text=${text ?? name ?? value} setText=${write} isOpen=${text !== undefined}
    choices=${choices ?? []} isSearching=${choices === undefined} choose=${choose}
    attributes=${{ ...attributes, placeholder: `${none}; write to search`, onFocus: () => text === undefined && value === '' && setText('') }}
    show=${({ title }: Option) => html`<bdi>${title}</bdi>`}
  /></div>`;
};
