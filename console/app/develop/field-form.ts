import { html } from '../base/html.ts';
import type { Declaration, TypeFacts } from './declaration.ts';

/** A field as it is typed. */
export type TypedField = {
  readonly name: string;
  readonly type: string;
  readonly min: string;
  readonly max: string;
  readonly words: string;
  readonly of: string;
  readonly initial: string;
  readonly options: readonly string[];
};

export const NEW_FIELD: TypedField = {
  ...{ name: '', type: 'line', min: '', max: '', words: '', of: 'user', initial: '' },
  options: [],
};

/** As the server takes it. */
export const sentField = (typed: TypedField, types: readonly TypeFacts[]): object => {
  const facts = types.find(({ type }) => type === typed.type);
  const takes = (member: string): boolean => facts?.takes.includes(member) ?? false;
  const number = (text: string) => (text.trim() === '' ? undefined : Number(text));
  return {
    name: typed.name,
    type: typed.type,
    ...(takes('min') && { min: number(typed.min) }),
    ...(takes('max') && { max: number(typed.max) }),
    ...(takes('words') && { words: wordsIn(typed.words) }),
    ...(takes('of') && { of: typed.of }),
    ...(takes('initial') && typed.initial !== '' && { initial: initialOf(typed) }),
    options: typed.options.filter((option) => facts?.options.includes(option)),
  };
};

export const wordsIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

const initialOf = ({ type, initial }: TypedField): string | number | boolean =>
  type === 'integer' ? Number(initial) : type === 'flag' ? initial === 'true' : initial;

type FieldFormOptions = {
  /** Distinguishes the inputs of several fields. */
  readonly id: string;
  readonly typed: TypedField;
  readonly set: (typed: TypedField) => void;
  readonly declaration: Declaration;
};

/** The inputs of one field: its name, its type, and what that takes. */
export const FieldForm = ({ id, typed, set, declaration }: FieldFormOptions) => {
  const { types, aggregates } = declaration;
  const facts = types.find(({ type }) => type === typed.type);
  const text = (member: keyof TypedField) => (event: Event) =>
    set({ ...typed, [member]: (event.currentTarget as HTMLInputElement).value });
  const choose = (option: string) => (event: Event) => {
    const isChosen = (event.currentTarget as HTMLInputElement).checked;
    set({
      ...typed,
      options: [...typed.options.filter((each) => each !== option), ...(isChosen ? [option] : [])],
    });
  };
  const input = (member: 'min' | 'max' | 'words' | 'initial', label: string, more = {}) =>
    facts?.takes.includes(member) &&
    html`<p><label for=${`${id}-${member}`}>${label}</label><input id=${`${id}-${member}`} value=${typed[member]} onInput=${text(member)} autocomplete="off" spellcheck="false" ...${more} /></p>`;
  return html`
    <p><label for=${`${id}-name`}>Name</label><input id=${`${id}-name`} value=${typed.name} onInput=${text('name')} required autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="dueOn" /></p>
    <p><label for=${`${id}-type`}>Type</label><select id=${`${id}-type`} onChange=${text('type')}>${types.map(({ type, title }) => html`<option value=${type} selected=${type === typed.type}>${title}</option>`)}</select></p>
    ${input('min', 'Lowest number', { inputmode: 'numeric' })}
    ${input('max', typed.type === 'integer' ? 'Highest number' : 'Characters at most', { inputmode: 'numeric', placeholder: String(facts?.max ?? '') })}
    ${input('words', 'Words to choose from, separated by commas', { required: true })}
    ${
      facts?.takes.includes('of') &&
      html`<p><label for=${`${id}-of`}>To</label><select id=${`${id}-of`} onChange=${text('of')}>${['user', ...aggregates.map(({ kind }) => kind)].map((kind) => html`<option value=${kind} selected=${kind === typed.of}>${kind}</option>`)}</select></p>`
    }
    ${
      typed.type === 'flag'
        ? html`<p><label for=${`${id}-initial`}>Default</label><select id=${`${id}-initial`} onChange=${text('initial')}>${[
            ['', 'none'],
            ['false', 'no'],
            ['true', 'yes'],
          ].map(
            ([value, label]) =>
              html`<option value=${value} selected=${value === typed.initial}>${label}</option>`,
          )}</select></p>`
        : input('initial', 'Default, if any')
    }
    <div class="choices">${facts?.options.map(
      (option) =>
        html`<label class="choice"><input type="checkbox" checked=${typed.options.includes(option)} onChange=${choose(option)} /><span>${OPTIONS[option] ?? option}</span></label>`,
    )}</div>`;
};

const OPTIONS: Readonly<Record<string, string>> = {
  optional: 'optional',
  unique: 'unique',
  filter: 'lists filter by it',
  sort: 'lists sort by it',
  search: 'searchable',
  personal: 'personal data of its owner',
};
