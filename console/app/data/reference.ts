import { useState } from 'preact/hooks';
import type { FieldFacts, FormFieldFacts, KindFacts } from '../../domain-facts.ts';
import { useAsked } from '../base/asking.ts';
import { Combobox } from '../base/combobox.ts';
import { html } from '../base/html.ts';
import { HAL, kindNamed, type Page, useDomain } from './domain.ts';
import { findItems, OPTIONS_MAX, type Option, optionsOf, useFound } from './find.ts';
import { useName } from './names.ts';

const FOUND_MAX = 8;

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
  return {
    options: optionsOf(kind, asked.body._embedded.items),
    isAll: asked.body._links.next === undefined,
  };
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
  const isKnown = value === '' || options.some(({ id }) => id === value);
  const name = useName(isKnown ? undefined : kind, isKnown ? undefined : Number(value));
  if (!isAll && kind?.list.path !== undefined)
    return html`<${ReferenceSearch} kind=${kind} value=${value} change=${change} attributes=${attributes} none=${none} newest=${options} />`;
  if (!isAll)
    return html`<input type="text" inputmode="numeric" autocomplete="off" ...${attributes} value=${value} onInput=${enter} />`;
  return html`<select ...${attributes} onChange=${enter}>
    ${(value === '' || !field.isRequired) && html`<option value="" selected=${value === ''}>${none}</option>`}
    ${!isKnown && html`<option value=${value} selected>${name ?? value}</option>`}
    ${options.map(({ id, title }) => html`<option value=${id} selected=${id === value}>${title}</option>`)}
  </select>`;
};

type SearchOptions = Pick<ReferenceOptions, 'value' | 'change' | 'attributes' | 'none'> & {
  readonly kind: KindFacts;
  readonly newest: readonly Option[];
};

/** Too many for a list: the newest until the user types, then the results. */
const ReferenceSearch = ({ kind, value, change, attributes, none, newest }: SearchOptions) => {
  const name = useName(kind, value === '' ? undefined : Number(value));
  const [text, setText] = useState<string>();
  const sought = (text ?? '').trim();
  const found = useFound(sought, kind.name, (api, given, signal) =>
    findItems(api, kind, { text: given, limit: FOUND_MAX, signal }),
  );
  const choices = sought === '' ? newest.slice(0, FOUND_MAX) : found;
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
