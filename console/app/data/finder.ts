import { useId, useState } from 'preact/hooks';
import type { Api } from '../base/api.ts';
import { Combobox } from '../base/combobox.ts';
import { html } from '../base/html.ts';
import { exampleOf, kinds } from '../base/kinds.ts';
import { pathOfSubject } from '../base/names.ts';
import { kindNamed, useDomain } from './domain.ts';
import { findAnywhere, findItems, useFound } from './find.ts';
import { useSubjectName } from './names.ts';

type FilterOptions = { readonly value: string; readonly set: (value: string) => void };

const FOUND_MAX = 6;

/** The value of a filter, in words. */
type Choice = { readonly value: string; readonly title: string; readonly of?: string };

type FinderOptions = FilterOptions & {
  readonly label: string;
  /** The name of the present value. */
  readonly name: string;
  readonly placeholder: string;
  /** Whether a text that somebody wrote is a value as it is. */
  readonly isValue: (text: string) => boolean;
  readonly find: (api: Api, text: string, signal: AbortSignal) => Promise<readonly Choice[]>;
};

/** A filter by a person or an item, found by its name. Its value can be written as well. */
const Finder = ({ label, value, name, placeholder, isValue, find, set }: FinderOptions) => {
  const id = useId();
  const [text, setText] = useState<string>();
  const sought = (text ?? '').trim();
  const isWritten = sought !== '' && isValue(sought);
  const found = useFound(sought, label, find);
  const choices = [
    ...(isWritten ? [{ value: sought, title: sought }] : []),
    ...(sought === '' ? [] : (found ?? [])),
  ];
  const choose = (choice: Choice) => {
    setText(undefined);
    set(choice.value);
  };
  const write = (given: string) => {
    setText(given);
    if (given.trim() === '' && value !== '') set('');
  };
  const leave = () => {
    setText(undefined);
    if (isWritten && sought !== value) set(sought);
  };
  return html`<div class="filter"><label for=${id}>${label}</label><div class="reference" onFocusOut=${leave}><${Combobox}
    text=${text ?? name} setText=${write} isOpen=${sought !== ''} choices=${choices} isSearching=${sought !== '' && found === undefined}
    choose=${choose} attributes=${{ id, placeholder }}
    show=${({ title, of }: Choice) => html`<bdi>${title}</bdi>${of && html` <span class="soft">${of}</span>`}`}
  /></div></div>`;
};

/** `article-8001`, as events name it. */
export const ItemFilter = ({ value, set }: FilterOptions) => {
  const domain = useDomain();
  const name = useSubjectName(value);
  return html`<${Finder}
    label="Item" value=${value} set=${set} name=${name} placeholder=${`Name or ${exampleOf(kinds()[1])}`}
    isValue=${(text: string) => pathOfSubject(text) !== undefined || /^\w+-[\w-]+$/.test(text)}
    find=${async (api: Api, text: string, signal: AbortSignal): Promise<readonly Choice[]> =>
      (await findAnywhere(api, domain, { text, limit: FOUND_MAX, signal })).map(({ id, title, kind }) => ({
        ...{ value: `${kind.name}-${id}`, title, of: kind.title },
      }))}
  />`;
};

const USER = 'user:';
const ACTOR = /^(?:\d+|(?:user|system):[\w-]+)$/;

/** A user by their number, or a part of the system. */
export const ActorFilter = ({ value, set }: FilterOptions) => {
  const users = kindNamed(useDomain(), 'user');
  const number = value.startsWith(USER) ? value.slice(USER.length) : value;
  const name = useSubjectName(/^\d+$/.test(number) ? `user-${number}` : value);
  return html`<${Finder}
    label="By" value=${value} set=${set} name=${name} placeholder="Name or 7001"
    isValue=${(text: string) => ACTOR.test(text)}
    find=${async (api: Api, text: string, signal: AbortSignal): Promise<readonly Choice[]> =>
      users === undefined
        ? []
        : (await findItems(api, users, { text, limit: FOUND_MAX, signal })).map(({ id, title }) => ({
            ...{ value: id, title },
          }))}
  />`;
};
