import { html } from './html.ts';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

type TimeOptions = { readonly at: string | null; readonly clock?: boolean };

/** A moment as clocks here show it; its title has it in UTC, as logs do. */
export const Time = ({ at, clock = false }: TimeOptions) =>
  at === null ? html`<span class="soft">–</span>` : html`<time datetime=${at} title=${utcText(at)}>${timeText(at, clock)}</time>`;

/** Of today the clock says enough, where it was asked for. */
const timeText = (at: string, clock = false): string => {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date().toDateString();
  return (clock && isToday ? CLOCK : LOCAL).format(moment);
};

const utcText = (at: string): string => `${new Date(at).toISOString().replace('T', ' ').slice(0, -1)} UTC`;
