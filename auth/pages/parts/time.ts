import { type Html, html } from '#shared/html.ts';

const MS_PER_SECOND = 1_000;
const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/**
 * A time for people and programs. In UTC, because a page without scripts does not know its reader's time
 * zone.
 */
export const momentOf = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${FORMAT.format(at)} UTC</time>`;

export const momentOfSeconds = (atS: number): Html => momentOf(new Date(atS * MS_PER_SECOND));
