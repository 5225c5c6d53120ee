import type { RecordedEvent } from './event-log.ts';

/** When the change was made, by the event itself; null if it states no time, or is damaged. */
export const timeOf = ({ metadata }: Pick<RecordedEvent, 'metadata'>): Date | null => {
  if (typeof metadata?.at !== 'string') return null;
  const at = new Date(metadata.at);
  return Number.isNaN(at.getTime()) ? null : at;
};
