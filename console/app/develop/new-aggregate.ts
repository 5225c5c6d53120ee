import { useState } from 'preact/hooks';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import { Beside } from './beside.ts';
import { DECLARATION, type Declaration } from './declaration.ts';
import { FieldForm, NEW_FIELD, sentField, type TypedField, wordsIn } from './field-form.ts';

type Typed = {
  readonly name: string;
  readonly owner: string;
  readonly says: string;
  readonly fields: readonly TypedField[];
  readonly states: string;
  /** The choice of each role. */
  readonly read: Readonly<Record<string, string>>;
  readonly write: Readonly<Record<string, string>>;
};

const INITIAL: Typed = {
  ...{ name: '', owner: 'author', says: '', states: '' },
  fields: [{ ...NEW_FIELD, name: 'title' }],
  read: { signedIn: 'own' },
  write: { signedIn: 'own' },
};

/** Writes the file of a new aggregate, by choices. */
export const NewAggregate = () => html`
  <${Heading} title="New aggregate" />
  <${Whole} asked=${useAsked<Declaration>(DECLARATION)} show=${(declaration: Declaration) => html`<${Form} declaration=${declaration} />`} />`;

const Form = ({ declaration }: { readonly declaration: Declaration }) => {
  const [typed, set] = useState(INITIAL);
  const { name, owner, says, fields, states } = typed;
  const change = {
    aggregate: {
      ...{ name, owner },
      ...(says !== '' && { says }),
      fields: fields.map((field) => sentField(field, declaration.types)),
      states: wordsIn(states).map((state) => ({ name: state })),
      rights: { read: rowOf(typed.read), write: rowOf(typed.write) },
    },
  };
  return html`<${Beside} change=${change} kind=${name} action="Write it">
    <${Inputs} typed=${typed} set=${set} declaration=${declaration} />
  <//>`;
};

const NOTHING = '';
const rowOf = (row: Typed['read']): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([role, choice]) =>
      choice === NOTHING ? [] : [[role, choice === 'all' ? true : choice.split(' ')]],
    ),
  );

type InputsOptions = {
  readonly typed: Typed;
  readonly set: (typed: Typed) => void;
  readonly declaration: Declaration;
};

const Inputs = ({ typed, set, declaration }: InputsOptions) => {
  const text = (member: 'name' | 'owner' | 'says' | 'states') => (event: Event) =>
    set({ ...typed, [member]: (event.currentTarget as HTMLInputElement).value });
  const fields = (changed: readonly TypedField[]) => set({ ...typed, fields: changed });
  return html`
    <p><label for="name">Name</label><input id="name" value=${typed.name} onInput=${text('name')} required autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="invoice" /></p>
    <p><label for="says">One sentence about it <span class="soft">(optional)</span></label><input id="says" value=${typed.says} onInput=${text('says')} autocomplete="off" /></p>
    <p><label for="owner">Its owner is called</label><input id="owner" value=${typed.owner} onInput=${text('owner')} required autocomplete="off" autocapitalize="off" spellcheck="false" /></p>
    <h2>Fields</h2>
    ${typed.fields.map(
      (field, index) => html`<fieldset key=${index}><legend>Field ${index + 1}</legend>
        <${FieldForm} id=${`field-${index}`} typed=${field} declaration=${declaration} set=${(changed: TypedField) => fields(typed.fields.map((each, at) => (at === index ? changed : each)))} />
        ${typed.fields.length > 1 && html`<button type="button" onClick=${() => fields(typed.fields.filter((_each, at) => at !== index))}>Remove field ${index + 1}</button>`}
      </fieldset>`,
    )}
    <p><button type="button" onClick=${() => fields([...typed.fields, NEW_FIELD])}>Add another field</button></p>
    <h2>States</h2>
    <p><label for="states">Its states, separated by commas <span class="soft">(optional)</span></label><input id="states" value=${typed.states} onInput=${text('states')} autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="draft, published" aria-describedby="states-hint" /></p>
    <p id="states-hint" class="soft">It begins in the first one; a command leads to each of the others.</p>
    <h2>Rights</h2>
    <${Rights} row="read" title="Who reads" typed=${typed} set=${set} roles=${['anyone', 'signedIn', ...declaration.roles]} />
    <${Rights} row="write" title="Who creates and changes" typed=${typed} set=${set} roles=${['signedIn', ...declaration.roles]} />`;
};

type RightsOptions = Omit<InputsOptions, 'declaration'> & {
  readonly row: 'read' | 'write';
  readonly title: string;
  readonly roles: readonly string[];
};

const Rights = ({ row, title, typed, set, roles }: RightsOptions) => {
  const states = row === 'read' ? wordsIn(typed.states) : [];
  const choicesFor = (role: string): readonly (readonly [value: string, label: string])[] => [
    [NOTHING, 'nothing'],
    ...(role === 'anyone' ? [] : [['own', 'their own'] as const]),
    ...states.map((state) => [state, `those that are ${state}`] as const),
    ...(role === 'anyone' ? [] : states.map((state) => [`${state} own`, `${state}, and their own`] as const)),
    ['all', 'all'],
  ];
  const choose = (role: string) => (event: Event) =>
    set({ ...typed, [row]: { ...typed[row], [role]: (event.currentTarget as HTMLSelectElement).value } });
  return html`<fieldset><legend>${title}</legend>${roles.map(
    (role) =>
      html`<p><label for=${`${row}-${role}`}>${NAMES[role] ?? role}</label><select id=${`${row}-${role}`} onChange=${choose(role)}>${choicesFor(role).map(([value, label]) => html`<option value=${value} selected=${(typed[row][role] ?? NOTHING) === value}>${label}</option>`)}</select></p>`,
  )}</fieldset>`;
};

const NAMES: Readonly<Record<string, string>> = { anyone: 'Anyone', signedIn: 'Everybody who is signed in' };
