import { type Html, html } from '#shared/html.ts';

/** The errors of a form by field; `form` holds those of no single field. */
export type Problems<Field extends string> = { readonly [Each in Field | 'form']?: string | undefined };

export type FieldOptions = {
  readonly name: string;
  readonly label: string;
  /** `digits` and `exact`: codes that are typed as they were given, without correction. */
  readonly type: 'text' | 'email' | 'password' | 'digits' | 'exact' | 'day';
  readonly autocomplete: string;
  readonly hint?: string;
  readonly value?: string | undefined;
  readonly problem?: string | undefined;
  readonly maxLength: number;
  readonly hasFocus?: boolean;
  readonly isOptional?: boolean;
};

/** A labelled field. Screen readers read its hint and its error with it. */
export const field = (options: FieldOptions): Html => {
  const { name, label, type, autocomplete, hint, value, problem, maxLength, hasFocus, isOptional } = options;
  const describedBy = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
  return html`<div class="field${problem && ' bad'}">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${problem && html`<p class="wrong" id="${name}-problem">${problem}</p>`}
<input id="${name}" name="${name}" type="${HTML_TYPES[type]}" autocomplete="${autocomplete}" maxlength="${maxLength}"${!isOptional && html` required`}${KEYBOARD[type]}${
    value && html` value="${value}"`
  }${describedBy && html` aria-describedby="${describedBy}"`}${problem && html` aria-invalid="true"`}${hasFocus && html` autofocus`}>
</div>`;
};

const plain = html` autocapitalize="none" autocorrect="off" spellcheck="false"`;
const KEYBOARD = {
  text: html``,
  email: plain,
  password: plain,
  digits: html` inputmode="numeric"${plain}`,
  exact: plain,
  day: html``,
} as const;
const HTML_TYPES = {
  text: 'text',
  email: 'email',
  password: 'password',
  digits: 'text',
  exact: 'text',
  day: 'date',
} as const;

export const checkbox = ({
  name,
  label,
  isTicked = false,
}: {
  name: string;
  label: string;
  isTicked?: boolean;
}): Html =>
  html`<p class="tick"><input id="${name}" name="${name}" type="checkbox" value="yes"${isTicked && html` checked`}>
<label for="${name}">${label}</label></p>`;

type Choices = {
  readonly name: string;
  readonly legend: string;
  readonly options: readonly (readonly [string, string])[];
  readonly chosen: string;
};

export const choices = ({ name, legend, options, chosen }: Choices): Html => html`<fieldset class="field">
<legend>${legend}</legend>
${options.map(
  ([
    value,
    label,
  ]) => html`<p class="tick"><input id="${name}-${value}" name="${name}" type="radio" value="${value}"${value === chosen && html` checked`}>
<label for="${name}-${value}">${label}</label></p>\n`,
)}</fieldset>`;

type Several = Omit<Choices, 'options' | 'chosen'> & {
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly note?: string | undefined;
  }[];
  readonly chosen: readonly string[];
  readonly problem?: string | undefined;
};

/**
 * Checkboxes for several choices. The first has the id of the field, so that the error summary can link to
 * it.
 */
export const severalOf = ({
  name,
  legend,
  options,
  chosen,
  problem,
}: Several): Html => html`<fieldset class="field${problem && ' bad'}"${
  problem && html` aria-describedby="${name}-problem"`
}>
<legend>${legend}</legend>
${problem && html`<p class="wrong" id="${name}-problem">${problem}</p>`}
${options.map(({ value, label, note }, index) => {
  const id = index === 0 ? name : `${name}-${index}`;
  return html`<p class="tick"><input id="${id}" name="${name}" type="checkbox" value="${value}"${chosen.includes(value) && html` checked`}>
<label for="${id}">${label}${note && html` <small>${note}</small>`}</label></p>\n`;
})}</fieldset>`;

/** The error summary, with a link to each field. It takes the focus, so that screen readers read it first. */
export const summaryOf = (problems: Problems<string>): Html => {
  const entries = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (entries.length === 0) return html``;
  return html`<div class="summary" role="alert" tabindex="-1" autofocus>
<h2>Please check this</h2>
<ul>${entries.map(([name, problem]) => html`<li>${name === 'form' ? problem : html`<a href="#${name}">${problem}</a>`}</li>`)}</ul>
</div>`;
};

export const hasProblems = (problems: Problems<string>): boolean =>
  Object.values(problems).some((problem) => problem !== undefined);

/**
 * The convention of GOV.UK: a screen reader reads the title first, and so learns whether the form was
 * accepted.
 */
export const titleOf = (title: string, problems: Problems<string>): string =>
  hasProblems(problems) ? `Not yet: ${title}` : title;

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;
