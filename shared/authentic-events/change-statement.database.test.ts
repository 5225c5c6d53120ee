import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';
import { DECISIONS_MAX, decide } from './change-statement.ts';
import { batchOf, sortedDigests, unitedBatches } from './decided.ts';
import { createEventMac } from './event-mac.ts';
import { findStatement, keepStatement } from './keep-statement.ts';

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

test('a row that is set back during a decision takes nothing back, neither in the database nor in the folder', async ({
  place,
}) => {
  await using opened = await place.open();
  await using former = await place.openFormer();
  await former.append(thing(), NO_STREAM, [ourEvent()]);
  const [refused] = await allOf(opened.eventLog);
  await place.pool.query('create table public.kept as table public.authentic_events');
  let isSetBack = false;
  const query = async (...given: Parameters<typeof place.pool.query>) => {
    const answer = await place.pool.query(...given);
    if (!isSetBack && String(given[0]).startsWith('update public.authentic_events')) {
      isSetBack = true;
      await place.pool.query(
        'update public.authentic_events set statement = kept.statement, mac = kept.mac from public.kept',
      );
    }
    return answer;
  };
  const { masterKey, auditDir } = place;
  const pool = { query } as unknown as typeof place.pool;
  const decisions = new Map([['accepted' as const, [refused?.notAuthentic ?? '']]]);
  await decide({ pool, masterKey, auditDir }, opened.eventLog.identity, decisions);
  expect(isSetBack).toBe(true);
  expect(await typesAnew(place, `${auditDir}-other`)).toEqual(new Set(['thing.noted']));
  await place.pool.query('delete from public.authentic_events');
  expect(await typesAnew(place)).toEqual(new Set(['thing.noted']));
});

test('a decision beyond the maximum is refused in a sentence, and changes nothing', async ({ place }) => {
  await using opened = await place.open();
  const { masterKey } = place;
  const { identity: log } = opened.eventLog;
  const authenticating = { log, mac: createEventMac(masterKey) };
  const found = await findStatement(place, authenticating);
  if (found === undefined) throw new Error('the log has a statement');
  const digestOf = (n: number) => hash('sha256', String(n));
  const batches = Array.from({ length: DECISIONS_MAX }, (_, n) =>
    batchOf(sortedDigests([digestOf(n)]), { n: n + 2, is: 'rejected' }),
  );
  const full = { ...found, n: DECISIONS_MAX + 2, decided: unitedBatches([], batches) };
  const kept = await keepStatement(place, full, authenticating);
  await expect(decide(place, log, new Map([['rejected', [digestOf(-1)]]]))).rejects.toThrow(
    'The log has 10000 decisions of operators, and no more are kept',
  );
  expect(await findStatement(place, authenticating)).toEqual(kept);
});
