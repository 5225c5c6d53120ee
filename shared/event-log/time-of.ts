import type { RecordedEvent } from './event-log.ts';

/** When the change was made, by the event as it is chained; null if it states no time, or is damaged. */
export const timeOf = (event: Pick<RecordedEvent, 'metadata' | 'chained'>): Date | null => {
  const { metadata } = event.chained ?? event;
  if (typeof metadata?.at !== 'string') return null;
  const at = new Date(metadata.at);
  return Number.isNaN(at.getTime()) ? null : at;
};
