import { type Html, html } from '#shared/html.ts';

const MS_PER_SECOND = 1_000;
const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/**
 * A moment for people and programs. Pages without scripts do not know the time zone of whoever reads them.
 */
export const momentOf = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${FORMAT.format(at)} UTC</time>`;

export const momentOfSeconds = (atS: number): Html => momentOf(new Date(atS * MS_PER_SECOND));
