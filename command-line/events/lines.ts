import { cellOf } from '../columns.ts';
import type { Paint } from '../paint.ts';

/** An event as the interface tells it. */
export type ToldEvent = {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly cursor: string;
  readonly subject: string;
  readonly actor: string | null;
  readonly client?: string | null;
  readonly request?: string;
  readonly correlation?: string;
  readonly causation?: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly parked?: true;
};

const DATA_CHARACTERS_MAX = 200;

/** On one line, for people. */
export const toldLine = ({ at, subject, type, actor, data, parked }: ToldEvent, paint: Paint): string =>
  [
    paint('soft', at),
    cellOf(subject),
    paint('strong', cellOf(type)),
    `by ${cellOf(actor ?? 'somebody unknown')}`,
    ...(parked ? [paint('bad', 'parked')] : []),
    cellOf(JSON.stringify(data), DATA_CHARACTERS_MAX),
  ].join('  ');
