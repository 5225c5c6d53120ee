import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { FieldFacts, FormFieldFacts } from '../../domain-facts.ts';
import { useActions } from '../actions.ts';
import { useAsked } from '../asking.ts';
import { html } from '../html.ts';
import { Problem } from '../parts.ts';
import { factsOf, type ProblemFacts } from '../problem.ts';
import { HAL, kindNamed, type Page, titleOf, useDomain } from './domain.ts';
import { errorsOf, type Raw, restOf } from './form-values.ts';
import { wordText } from './value.ts';

type FormOptions = {
  readonly fields: readonly FormFieldFacts[];
  readonly raw: Raw;
  readonly setRaw: (raw: Raw) => void;
  /** Whatever it throws is shown, at the fields where it is of one. */
  readonly send: () => Promise<void>;
  readonly doing: string;
  readonly kind?: string;
  readonly back: string;
  /** What is said under a field. */
  readonly remarks?: Readonly<Record<string, VNode>>;
  readonly children?: ComponentChildren;
};

/** A form made of the facts of a command. The server checks it, so that there is one rule for everybody. */
export const Form = ({ fields, raw, setRaw, send, doing, kind = '', back, remarks = {}, children }: FormOptions) => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemFacts>();
  const form = useRef<HTMLFormElement>(null);
  const errors = errorsOf(fields, problem);
  const rest = restOf(problem, errors);
  // Whoever has sent it is led to what is wrong.
  useEffect(() => {
    if (problem !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    submit();
  };
  const submit = () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    send()
      .catch((error: unknown) => setProblem(factsOf(error)))
      .finally(() => setBusy(false));
  };
  useActions([{ says: doing, keys: 'Control+Enter', to: submit }]);
  return html`<form ref=${form} class="form fill" noValidate onSubmit=${onSubmit}>
    ${children}
    ${rest && html`<${Problem} problem=${rest} />`}
    ${fields.map(
      (field) => html`<${Field}
        key=${field.wire}
        field=${field}
        value=${raw[field.wire] ?? ''}
        error=${errors[field.wire]}
        remark=${remarks[field.wire]}
        change=${(value: string | boolean) => setRaw({ ...raw, [field.wire]: value })}
      />`,
    )}
    <div class="tools"><button class=${`primary ${kind}`} aria-disabled=${isBusy}>${doing}</button><a class="button" href=${back}>Cancel</a></div>
  </form>`;
};

type FieldOptions = {
  readonly field: FormFieldFacts;
  readonly value: string | boolean;
  readonly error: string | undefined;
  readonly remark: VNode | undefined;
  readonly change: (value: string | boolean) => void;
};

const Field = ({ field, value, error, remark, change }: FieldOptions) => {
  const id = useId();
  const hint = hintOf(field);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const shared = { id, name: field.wire, 'aria-describedby': described || null, 'aria-invalid': error === undefined ? null : 'true' };
  const parts = html`${hint && html`<small id=${`${id}-hint`} class="soft">${hint}</small>`}
    ${error && html`<small id=${`${id}-error`} class="wrong">${error}</small>`}${remark}`;
  if (field.type === 'boolean')
    return html`<div class="field"><label class="choice">
      <input type="checkbox" ...${shared} checked=${value === true} onChange=${(event: Event) => change((event.currentTarget as HTMLInputElement).checked)} /><span>${field.title}</span>
    </label>${parts}</div>`;
  return html`<div class="field">
    <label for=${id}>${field.title}${!field.isRequired && field.isNullable && html` <span class="soft">(optional)</span>`}</label>
    <${Control} field=${field} value=${String(value)} shared=${shared} change=${change} />
    ${parts}
  </div>`;
};

const hintOf = ({ says, type, means = {} }: FormFieldFacts): string | undefined => {
  const words = Object.entries(means).map(([word, text]) => `${wordText(word)}: ${text}`);
  if (type === 'set') return `${says ?? ''} One per line.`.trim();
  return [says, ...words].filter(Boolean).join(' ') || undefined;
};

type ControlOptions = {
  readonly field: FormFieldFacts;
  readonly value: string;
  readonly shared: Readonly<Record<string, unknown>>;
  readonly change: (value: string) => void;
};

const Control = ({ field, value, shared, change }: ControlOptions) => {
  const { type, hasLines, values, isRequired, isNullable, schema } = field;
  const onInput = (event: Event) => change(enteredIn(event.currentTarget as HTMLInputElement));
  const all = { ...shared, value, onInput, required: isRequired };
  if (type === 'ref') return html`<${ReferenceControl} field=${field} all=${all} value=${value} change=${change} />`;
  if (values !== undefined)
    return html`<select ...${all}>
      ${(value === '' || isNullable) && html`<option value="" selected=${value === ''}>${isNullable ? 'None' : 'Choose …'}</option>`}
      ${values.map((word) => html`<option value=${word} selected=${word === value}>${wordText(word)}</option>`)}
    </select>`;
  if (hasLines || type === 'set')
    return html`<textarea ...${all} dir="auto" rows=${Math.min(Math.max(value.split('\n').length + 1, type === 'set' ? 3 : 5), 24)} maxlength=${type === 'set' ? undefined : schema.maxLength}></textarea>`;
  if (type === 'integer')
    return html`<input type="number" inputmode="numeric" step="1" min=${schema.minimum} max=${schema.maximum} ...${all} />`;
  if (type === 'date') return html`<input type="date" ...${all} />`;
  const isMail = schema.format === 'email';
  return html`<input type=${isMail ? 'email' : 'text'} dir="auto" autocomplete="off" maxlength=${schema.maxLength} ...${all} />`;
};

/** Where the browser reads no number or date, it says that there is nothing: the server must not take that for nothing. */
const enteredIn = ({ value, validity }: HTMLInputElement): string => (validity.badInput ? 'invalid' : value);

const OPTIONS_MAX = 100;

/** What can be referred to, as far as there is a list of it; the newest where there are many. */
export const useOptions = (
  field: FieldFacts,
): { readonly options: readonly { readonly id: string; readonly title: string }[]; readonly isAll: boolean } => {
  const kind = kindNamed(useDomain(), field.of);
  const asked = useAsked<Page>(kind?.list.path === undefined ? '/me' : `${kind.list.path}?limit=${OPTIONS_MAX}`, undefined, HAL);
  // Until they are there, a list is shown that has none.
  if (asked.body === undefined && asked.problem === undefined) return { options: [], isAll: true };
  if (kind === undefined || asked.body?._embedded === undefined) return { options: [], isAll: false };
  const { _embedded, _links } = asked.body;
  return {
    options: _embedded.items.map((item) => ({ id: String(item.id), title: titleOf(kind, item) })),
    isAll: _links.next === undefined,
  };
};

type ReferenceControlOptions = Omit<ControlOptions, 'shared'> & { readonly all: Readonly<Record<string, unknown>> };

/** A name out of a list where all of it fits, else a number, with the names of the newest to choose from. */
const ReferenceControl = ({ field, all, value }: ReferenceControlOptions) => {
  const { options, isAll } = useOptions(field);
  const list = useId();
  if (!isAll)
    return html`<input type="text" inputmode="numeric" list=${list} autocomplete="off" ...${all} />
      <datalist id=${list}>${options.map(({ id, title }) => html`<option value=${id}>${title}</option>`)}</datalist>`;
  const isKnown = value === '' || options.some(({ id }) => id === value);
  return html`<select ...${all}>
    ${(value === '' || !field.isRequired) && html`<option value="" selected=${value === ''}>${field.isRequired ? 'Choose …' : field.isNullable ? 'None' : 'Yourself'}</option>`}
    ${!isKnown && html`<option value=${value} selected>${value}</option>`}
    ${options.map(({ id, title }) => html`<option value=${id} selected=${id === value}>${title}</option>`)}
  </select>`;
};
