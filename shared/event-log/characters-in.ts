import type { RecordedEvent } from './event-log.ts';

/** Counts only values that can be large, sealed ones included. A damaged event may have no data. */
export const charactersIn = (data: RecordedEvent['data'] | null): number => {
  let characters = 0;
  for (const value of Object.values(data ?? {})) {
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'object' && value !== null)
      characters += charactersIn(value as RecordedEvent['data']);
  }
  return characters;
};
