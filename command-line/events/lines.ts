import type { Event } from '#shared/rest/events.ts';
import { cellOf } from '../output/columns.ts';
import type { Paint } from '../output/paint.ts';

const DATA_CHARACTERS_MAX = 200;

/** One line for people. */
export const summaryLine = ({ at, subject, type, actor, data, parked }: Event, paint: Paint): string =>
  [
    paint('soft', at),
    cellOf(subject),
    paint('strong', cellOf(type)),
    `by ${cellOf(actor ?? 'an unknown actor')}`,
    ...(parked ? [paint('bad', 'parked')] : []),
    cellOf(JSON.stringify(data), DATA_CHARACTERS_MAX),
  ].join('  ');
