import type { FieldChange } from '#shared/rest/history.ts';
import { html } from '../html.ts';
import { shown, textOf } from './fields.ts';

/** What an event made of the item: before and after, or of long texts the lines. */
export const Changes = ({ changes }: { readonly changes: readonly FieldChange[] }) =>
  changes.length === 0
    ? null
    : html`<dl class="changes">${changes.filter(isTold).map(
        ({ field, diff, truncated, ...change }) => html`<div>
          <dt>${field}</dt>
          <dd>${diff === undefined ? html`<${FromTo} ...${change} />` : html`<${Lines} diff=${diff} />`}${truncated && html`<span class="soft"> and more</span>`}</dd>
        </div>`,
      )}</dl>`;

const FromTo = ({ from, to }: Pick<FieldChange, 'from' | 'to'>) => {
  const became = isThere(to) ? html`<ins><span class="unseen">became </span>${shown(to)}</ins>` : html`<span class="soft">nothing</span>`;
  return isThere(from) ? html`<del><span class="unseen">was </span>${shown(from)}</del> ${became}` : became;
};

const isThere = (value: unknown): boolean => textOf(value) !== '';

/** Where there was nothing and is nothing, nobody has to hear of it. */
const isTold = ({ diff, from, to }: FieldChange): boolean => diff !== undefined || isThere(from) || isThere(to);

/** As `diff -u` shows them. */
const Lines = ({ diff }: { readonly diff: string }) =>
  html`<pre class="diff" tabindex="0">${diff.split('\n').map((line) => html`<span class=${toneOf(line)}>${line}${'\n'}</span>`)}</pre>`;

export const toneOf = (line: string): string => {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'place' : '';
};
