import type { FieldChange } from '#kernel/base/rest/history.ts';
import type { FieldFacts, KindFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { Time } from '../base/time.ts';
import { Named } from './names.ts';
import { Value } from './value.ts';

/** The changes of an event: old and new values, or the changed lines of long texts. */
export const Changes = ({ changes, kind }: ChangesOptions) => {
  const shownChanges = changes.filter(isShown);
  const own = shownChanges.filter(({ field }) => listedIn(kind, field) === undefined);
  const listed = Map.groupBy(
    shownChanges.filter(({ field }) => listedIn(kind, field) !== undefined),
    ({ field }) => listedIn(kind, field)?.title ?? '',
  );
  if (shownChanges.length === 0) return null;
  return html`<dl class="changes">
    ${own.map((change) => html`<${OneChange} change=${change} field=${fieldOf(kind, change.field)} />`)}
    ${[...listed].map(
      ([title, parts]) => html`<div><dt>${title} <span class="soft">${becameOf(parts)}</span></dt>
        <dd><dl class="changes">${parts.map((change) => html`<${OneChange} change=${change} field=${listedIn(kind, change.field)?.field} />`)}</dl></dd></div>`,
    )}
  </dl>`;
};

type OneChangeOptions = { readonly change: FieldChange; readonly field: FieldFacts | undefined };

const OneChange = ({
  change: { field: name, diff, truncated, ...change },
  field,
}: OneChangeOptions) => html`<div>
  <dt>${field?.title ?? name}</dt>
  <dd>${diff === undefined ? html`<${FromTo} ...${change} field=${field} />` : html`<${Lines} diff=${diff} />`}${truncated && html`<span class="soft"> and more</span>`}</dd>
</div>`;

type Listed = { readonly title: string; readonly field: FieldFacts | undefined };

/** For a field of a list’s item (`items.3.amount`): its list, its item and its field. */
export const listedIn = (kind: Pick<KindFacts, 'lists'> | undefined, name: string): Listed | undefined => {
  const [, listName, id, wire] = /^(\w+)\.(.+)\.(\w+)$/.exec(name) ?? [];
  const list = kind?.lists.find((each) => each.name === listName);
  if (list === undefined) return undefined;
  const one = list.one.charAt(0).toUpperCase() + list.one.slice(1);
  return { title: `${one} ${id}`, field: list.fields.find((field) => field.wire === wire) };
};

/** Says whether an item of a list was added, removed or changed. */
const becameOf = (parts: readonly FieldChange[]): string => {
  if (parts.every(({ from, diff }) => diff === undefined && !isThere(from))) return 'added';
  return parts.every(({ to, diff }) => diff === undefined && !isThere(to)) ? 'removed' : 'changed';
};

type ChangesOptions = { readonly changes: readonly FieldChange[]; readonly kind?: KindFacts | undefined };

/** Changes of a reference name its id. */
const fieldOf = (kind: KindFacts | undefined, name: string): FieldFacts | undefined =>
  kind?.fields.find((field) => [field.name, field.wire, `${field.name}.id`].includes(name));

type FromToOptions = Pick<FieldChange, 'from' | 'to'> & { readonly field: FieldFacts | undefined };

const FromTo = ({ from, to, field }: FromToOptions) => {
  const became = isThere(to)
    ? html`<ins dir="auto"><span class="unseen">became </span><${ShownValue} value=${to} field=${field} /></ins>`
    : html`<span class="soft">nothing</span>`;
  return isThere(from)
    ? html`<del dir="auto"><span class="unseen">was </span><${ShownValue} value=${from} field=${field} /></del> ${became}`
    : became;
};

/** A reference is shown by name; texts as they are. */
const ShownValue = ({
  value,
  field,
}: {
  readonly value: unknown;
  readonly field: FieldFacts | undefined;
}) => {
  if (field === undefined || field.type === 'text' || field.type === 'upload') return html`${shown(value)}`;
  if (field.type === 'ref' && typeof value === 'number')
    return html`<${Named} of=${field.of ?? ''} id=${value} />`;
  return html`<${Value} field=${field} value=${value} links=${{}} isCell />`;
};

const isThere = (value: unknown): boolean => textOf(value) !== '';

/** A change from nothing to nothing is not shown. */
const isShown = ({ diff, from, to }: FieldChange): boolean =>
  diff !== undefined || isThere(from) || isThere(to);

/** In the format of `diff -u`. */
export const Lines = ({ diff }: { readonly diff: string }) =>
  html`<pre class="diff" tabindex="0">${diff.split('\n').map((line) => html`<span class=${toneOf(line)} dir="auto">${line}${'\n'}</span>`)}</pre>`;

export const toneOf = (line: string): string => {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'hunk' : '';
};

const LONG = 400;
const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

export const shown = (value: unknown): unknown => {
  if (typeof value === 'string' && MOMENT.test(value)) return html`<${Time} at=${value} />`;
  const text = textOf(value);
  if (text === '') return html`<span class="soft">–</span>`;
  return text.length > LONG || text.includes('\n')
    ? html`<pre class="text" tabindex="0" dir="auto">${text}</pre>`
    : text;
};

/** A JSON value in readable form. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(', ');
};
