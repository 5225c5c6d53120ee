import { html } from './html.ts';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const BRIEF_CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const BRIEF_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

type TimeOptions = { readonly at: string | null; readonly clock?: boolean; readonly short?: boolean };

/** A time in the local zone, with UTC in its title, as in logs. */
export const Time = ({ at, clock = false, short = false }: TimeOptions) =>
  at === null
    ? html`<span class="soft">–</span>`
    : html`<time datetime=${at} title=${utcText(at)}>${formatOf(at, clock, short).format(new Date(at))}</time>`;

/** Beside the time of an event that an import claims. */
export const ImportedAt = ({ at }: { readonly at: string | undefined }) =>
  at !== undefined && html`<span class="soft">, imported <${Time} at=${at} /></span>`;

/** A time of today may show the clock only. */
const formatOf = (at: string, clock: boolean, short: boolean): Intl.DateTimeFormat => {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  if (clock && isToday) return short ? BRIEF_CLOCK : CLOCK;
  return short ? SHORT : LOCAL;
};

/** For lists: the clock today, otherwise the day. */
export const BriefTime = ({ at }: { readonly at: string }) => {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date().toDateString();
  return html`<time class="brief" datetime=${at} title=${`${LOCAL.format(moment)}, ${utcText(at)}`}>${(isToday ? BRIEF_CLOCK : BRIEF_DAY).format(moment)}</time>`;
};

/** The zone of the browser, in which times are shown. */
const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const utcText = (at: string): string =>
  `${new Date(at).toISOString().replace('T', ' ').slice(0, -1)} UTC; shown in ${ZONE}`;

const TWO = 2;
const padded = (number: number): string => String(number).padStart(TWO, '0');

/** The format of a control for local time. */
export const localOf = (iso: string | null): string => {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  return `${at.getFullYear()}-${padded(at.getMonth() + 1)}-${padded(at.getDate())}T${padded(at.getHours())}:${padded(at.getMinutes())}`;
};

export const isoOf = (local: string): string => (local === '' ? '' : new Date(local).toISOString());
