import type { Event } from '#shared/rest/events.ts';
import { cellOf } from '../output/columns.ts';
import type { Paint } from '../output/paint.ts';
import { type Names, subjectOfActor } from './names.ts';

const DATA_CHARACTERS_MAX = 200;

/** One line for people. */
export const summaryLine = async (
  { at, subject, type, actor, data, parked }: Event,
  paint: Paint,
  names: Names,
): Promise<string> =>
  [
    paint('soft', at),
    await subjectText(subject, names),
    paint('strong', cellOf(type)),
    `by ${await actorText(actor, names)}`,
    ...(parked ? [paint('bad', 'parked')] : []),
    cellOf(JSON.stringify(data), DATA_CHARACTERS_MAX),
  ].join('  ');

/** `article-8001 (On engines)`. */
export const subjectText = async (subject: string, names: Names): Promise<string> => {
  const name = await names(subject);
  return name === undefined ? cellOf(subject) : `${cellOf(subject)} (${name})`;
};

/** `Ada Lovelace (user:7001)`. */
export const actorText = async (actor: string | null, names: Names): Promise<string> => {
  const subject = subjectOfActor(actor);
  const name = subject && (await names(subject));
  const text = cellOf(actor ?? 'an unknown actor');
  return name === undefined ? text : `${name} (${text})`;
};
