import { html } from '../html.ts';
import { Time } from '../time.ts';

const LONG = 400;

/** What an item was, field by field; links are for programs. */
export const Fields = ({ item }: { readonly item: Readonly<Record<string, unknown>> | undefined }) =>
  item === undefined
    ? html`<p class="waiting">Just a moment …</p>`
    : html`<dl class="facts">${Object.entries(item)
        .filter(([name]) => name !== '_links')
        .map(([name, value]) => html`<div><dt>${name}</dt><dd>${shown(value)}</dd></div>`)}</dl>`;

const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

export const shown = (value: unknown): unknown => {
  if (typeof value === 'string' && MOMENT.test(value)) return html`<${Time} at=${value} />`;
  const text = textOf(value);
  if (text === '') return html`<span class="soft">–</span>`;
  return text.length > LONG || text.includes('\n') ? html`<pre class="text" tabindex="0">${text}</pre>` : text;
};

/** A value of JSON as people read it. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${textOf(part)}`)
    .join(', ');
};
