import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { FormFieldFacts } from '../../domain-facts.ts';
import { useActions } from '../base/actions.ts';
import { html } from '../base/html.ts';
import { Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { MarkdownEditor } from '../markdown/editor.ts';
import type { Draft } from './drafts.ts';
import { errorsOf, type Raw, restOf } from './form-values.ts';
import { Moment } from './moment.ts';
import { ReferenceControl } from './reference.ts';
import { Restored } from './restored.ts';
import { Tags } from './tags.ts';
import { wordText } from './value.ts';

type FormOptions = {
  readonly fields: readonly FormFieldFacts[];
  readonly raw: Raw;
  readonly setRaw: (raw: Raw) => void;
  readonly draft: Pick<Draft<unknown>, 'isRestored' | 'offered' | 'end' | 'startAgain'>;
  /** Its error is shown, at the fields it names. */
  readonly send: () => Promise<void>;
  readonly doing: string;
  readonly kind?: string;
  readonly back: string;
  /** Fields that are sent apart from the others. */
  readonly after?: VNode;
  /** Remarks below fields. */
  readonly remarks?: Readonly<Record<string, VNode>>;
  readonly children?: ComponentChildren;
};

/** A form from the facts of a command. Only the server validates, so there is one set of rules. */
export const Form = ({
  fields,
  raw,
  setRaw,
  draft,
  send,
  doing,
  kind = '',
  back,
  after,
  remarks = {},
  children,
}: FormOptions) => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemFacts>();
  const form = useRef<HTMLFormElement>(null);
  const errors = errorsOf(fields, problem);
  const rest = restOf(problem, errors);
  // Moves the focus to the first error after sending.
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
    <${Restored} draft=${draft} />
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
    ${after}
    <div class="tools"><button class=${`primary ${kind}`} aria-disabled=${isBusy}>${doing}</button><a class="button" href=${back} onClick=${draft.end}>Cancel</a></div>
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
  const shared = {
    id,
    name: field.wire,
    'aria-describedby': described || null,
    'aria-invalid': error === undefined ? null : 'true',
  };
  const parts = html`${hint && html`<small id=${`${id}-hint`} class="soft">${hint}</small>`}
    ${error && html`<small id=${`${id}-error`} class="wrong">${error}</small>`}${remark}`;
  if (field.type === 'boolean' && !field.isNullable)
    return html`<div class="field"><label class="choice">
      <input type="checkbox" ...${shared} checked=${value === true} onChange=${(event: Event) => change((event.currentTarget as HTMLInputElement).checked)} /><span>${field.title}</span>
    </label>${parts}</div>`;
  return html`<div class="field">
    <label for=${id}>${field.title}${!field.isRequired && field.isNullable && html` <span class="soft">(optional)</span>`}</label>
    <${Control} field=${field} value=${String(value)} shared=${shared} change=${change} />
    ${parts}
  </div>`;
};

const hintOf = ({ says, type, hasLines, means = {} }: FormFieldFacts): string | undefined => {
  const words = Object.entries(means).map(([word, text]) => `${wordText(word)}: ${text}`);
  if (type === 'set') return `${says ?? ''} ${hasLines ? 'One per line.' : 'Enter adds one.'}`.trim();
  return [says, ...words].filter(Boolean).join(' ') || undefined;
};

type ControlOptions = {
  readonly field: FormFieldFacts;
  readonly value: string;
  readonly shared: Readonly<Record<string, unknown>>;
  readonly change: (value: string) => void;
};

const Control = ({ field, value, shared, change }: ControlOptions) => {
  const { type, hasLines, isMarkdown, values, isRequired, isNullable, schema } = field;
  const onInput = (event: Event) => change(enteredIn(event.currentTarget as HTMLInputElement));
  const all = { ...shared, value, onInput, required: isRequired };
  if (type === 'ref') {
    const none = isRequired ? 'Choose …' : isNullable ? 'None' : 'Yourself';
    return html`<${ReferenceControl} field=${field} attributes=${{ ...shared, required: isRequired }} value=${value} change=${change} none=${none} />`;
  }
  const words = type === 'boolean' ? BOOLEANS : values;
  if (words !== undefined)
    return html`<select ...${all}>
      ${(value === '' || isNullable) && html`<option value="" selected=${value === ''}>${isNullable ? 'None' : 'Choose …'}</option>`}
      ${words.map((word) => html`<option value=${word} selected=${word === value}>${type === 'boolean' ? truthText(word) : wordText(word)}</option>`)}
    </select>`;
  if (isMarkdown)
    return html`<${MarkdownEditor} value=${value} change=${change} attributes=${{ ...shared, required: isRequired, maxlength: schema.maxLength }} />`;
  if (type === 'set' && !hasLines)
    return html`<${Tags} value=${value} change=${change} attributes=${shared} />`;
  if (hasLines)
    return html`<textarea ...${all} dir="auto" rows=${Math.min(Math.max(value.split('\n').length + 1, 5), 24)} maxlength=${schema.maxLength}></textarea>`;
  if (type === 'integer')
    return html`<input type="number" inputmode="numeric" step="1" min=${schema.minimum} max=${schema.maximum} ...${all} />`;
  if (type === 'instant')
    return html`<${Moment} value=${value} change=${change} attributes=${{ ...shared, required: isRequired }} />`;
  if (type === 'date') return html`<input type="date" ...${all} />`;
  const isMail = schema.format === 'email';
  return html`<input type=${isMail ? 'email' : 'text'} dir="auto" autocomplete="off" maxlength=${schema.maxLength} ...${all} />`;
};

/** An optional boolean has three states. */
export const BOOLEANS = ['true', 'false'];
export const truthText = (word: string): string => (word === 'true' ? 'Yes' : 'No');

/**
 * If the browser cannot read a number or date, the value is empty; the server must not take it for an empty
 * field.
 */
const enteredIn = ({ value, validity }: HTMLInputElement): string => (validity.badInput ? 'invalid' : value);
