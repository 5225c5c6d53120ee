import { countText, shortText } from '#shared/format.ts';
import type { FieldFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { BriefTime, Time } from '../base/time.ts';
import { Markdown } from '../markdown/markdown.ts';
import type { Links } from './links.ts';
import { Reference } from './names.ts';
import { Download, Picture } from './picture.ts';

/** Colours for the words of a choice, in the order of declaration; the first is the initial one. */
const TONES = 6;
const SHOWN_IN_CELL = 80;

export const wordText = (word: string): string => {
  const spaced = word.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll('_', ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};

export const Chip = ({
  field: { values = [], means = {} },
  value,
}: {
  readonly field: FieldFacts;
  readonly value: string;
}) =>
  html`<span class=${`chip tone-${Math.max(values.indexOf(value), 0) % TONES}`} title=${means[value]}>${wordText(value)}</span>`;

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

type ValueOptions = {
  readonly field: FieldFacts;
  readonly value: unknown;
  readonly links: Links;
  readonly isCell?: boolean;
};

/** The value of a field in readable form. */
export const Value = ({ field, value, links, isCell = false }: ValueOptions) => {
  const none = html`<span class="soft">–</span>`;
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return none;
  switch (field.type) {
    case 'states':
    case 'choice':
      return html`<${Chip} field=${field} value=${String(value)} />`;
    case 'ref':
      return html`<${Reference} field=${field} value=${value} links=${links} />`;
    case 'instant':
      return isCell
        ? html`<${BriefTime} at=${String(value)} />`
        : html`<${Time} at=${String(value)} short />`;
    case 'date':
      return html`<time datetime=${String(value)}>${DAY.format(new Date(`${String(value)}T00:00:00Z`))}</time>`;
    case 'integer':
      return countText(Number(value));
    case 'boolean':
      return value === true ? 'Yes' : 'No';
    case 'set':
      return html`<span class="tags">${(value as readonly unknown[]).map((word) => html`<span class="tag"><bdi>${String(word)}</bdi></span>`)}</span>`;
    case 'upload':
      if (field.isFile) return html`<${Download} address=${String(value)} isSmall=${isCell} />`;
      return html`<${Picture} path=${String(value)} title=${field.title} isSmall=${isCell} />`;
    default: {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      if (isCell) return html`<span dir="auto">${shortText(text.split('\n')[0] ?? '', SHOWN_IN_CELL)}</span>`;
      if (field.isMarkdown) return html`<${Markdown} text=${text} />`;
      return html`<span class="prose" dir="auto">${text}</span>`;
    }
  }
};
