import { expect } from 'vitest';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';
import { decide } from './change-statement.ts';
import { createEventMac } from './event-mac.ts';

const REFUSED = 'event.not_authentic';

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];

/** As a process reads them that has just started. */
const typesAnew = async (place: AuthenticPlace, auditDir = place.auditDir): Promise<readonly string[]> => {
  await using opened = await place.open({ auditDir });
  return (await allOf(opened.eventLog)).map(({ type }) => type);
};

test('decisions hold that a former release has written by the ids of events', async ({ place }) => {
  await using opened = await place.open();
  await using former = await place.openFormer();
  for (let n = 0; n < 3; n += 1) await former.append(thing(), NO_STREAM, [ourEvent()]);
  const [accepted, rejected, other] = await allOf(opened.eventLog);
  const { rows } = await place.pool.query('select statement from public.authentic_events');
  const statement = JSON.stringify({
    ...JSON.parse(rows[0].statement),
    n: 2,
    decided: {
      [`${accepted?.id}`]: { digest: accepted?.notAuthentic, is: 'accepted' },
      [`${rejected?.id}`]: { digest: rejected?.notAuthentic, is: 'rejected' },
    },
  });
  await place.pool.query(`update public.authentic_events set statement = $1, mac = decode($2, 'hex')`, [
    statement,
    createEventMac(place.masterKey).ofStatement(statement),
  ]);
  expect(await typesAnew(place, `${place.auditDir}-first`)).toEqual(['thing.noted', REFUSED, REFUSED]);
  const { pool, masterKey, auditDir } = place;
  const decisions = new Map([['accepted' as const, [other?.notAuthentic ?? '']]]);
  await decide({ pool, masterKey, auditDir }, opened.eventLog.identity, decisions);
  for (const folder of [auditDir, `${auditDir}-second`])
    expect(await typesAnew(place, folder)).toEqual(['thing.noted', REFUSED, 'thing.noted']);
});
