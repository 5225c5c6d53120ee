import { html } from '../base/html.ts';
import { isoOf, localOf } from '../base/time.ts';

type MomentOptions = {
  /** ISO 8601, in UTC. */
  readonly value: string;
  readonly change: (value: string) => void;
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** The zone of the browser, as “Europe/Berlin, UTC+2” at this moment. */
export const zoneAt = (value: string): string => {
  const at = new Date(value === '' ? Date.now() : value);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (Number.isNaN(at.getTime())) return timeZone;
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' }).formatToParts(at);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', 'UTC');
  return offset === undefined || offset === timeZone ? timeZone : `${timeZone}, ${offset}`;
};

/** A time in the zone of the user; an unchanged one keeps its fractions of seconds. */
export const Moment = ({ value, change, attributes }: MomentOptions) => {
  const write = (event: Event) => {
    const { value: local, validity } = event.currentTarget as HTMLInputElement;
    // The server must not take half a time for none.
    change(validity.badInput ? 'invalid' : isoOf(local));
  };
  return html`<div class="moment"><input type="datetime-local" ...${attributes} value=${localOf(value)} onInput=${write} /> <span class="soft">${zoneAt(value)}</span></div>`;
};
