import { expect } from 'vitest';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';
import { decide } from './change-statement.ts';

const EVENTS = 8;

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];

/** The types that a process reads that has just started. */
const typesAnew = async (place: AuthenticPlace, auditDir = place.auditDir): Promise<ReadonlySet<string>> => {
  await using opened = await place.open({ auditDir });
  return new Set((await allOf(opened.eventLog)).map(({ type }) => type));
};

test('what several operators decide at the same moment all holds, in the database and in the folder', async ({
  place,
}) => {
  await using opened = await place.open();
  await using former = await place.openFormer();
  for (let n = 0; n < EVENTS; n += 1) await former.append(thing(), NO_STREAM, [ourEvent()]);
  const changing = { pool: place.pool, masterKey: place.masterKey, auditDir: place.auditDir };
  await Promise.all(
    (await allOf(opened.eventLog)).map(({ notAuthentic = '' }) =>
      decide(changing, opened.eventLog.identity, new Map([['accepted', [notAuthentic]]])),
    ),
  );
  expect(await typesAnew(place, `${place.auditDir}-other`)).toEqual(new Set(['thing.noted']));
  await place.pool.query('delete from public.authentic_events');
  expect(await typesAnew(place)).toEqual(new Set(['thing.noted']));
});
