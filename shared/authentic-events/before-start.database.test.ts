import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { ourEvent, test, thing } from '../../test/engines/authentic-log.ts';

const REFUSED = 'event.not_authentic';

const insertBefore = (
  position: number,
  stream: StreamName,
): string => `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes, mac)
    select ${position}, stream, version + 1, gen_random_uuid(), type, data, metadata, bytes, null
    from event_log.event where stream = '${stream}' order by version desc limit 1`;

test('an event before the first position never counts, even while an upgrade lasts', async ({ place }) => {
  await using former = await place.openFormer();
  const stream = thing();
  await former.append(stream, NO_STREAM, [ourEvent()]);
  await using opened = await place.open();
  await place.tamper(insertBefore(-1, stream));
  await place.tamper(insertBefore(0, stream));
  const [page = []] = await Array.fromAsync(opened.eventLog.read(stream));
  expect(page.map(({ type }) => type)).toEqual(['thing.noted', REFUSED, REFUSED]);
  await expect(opened.authentic.check()).rejects.toThrow('2 events that no command wrote');
});

test('an event before the first position does not count in a new log, not even with its MAC', async ({
  place,
}) => {
  await using opened = await place.open();
  const stream = thing();
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent(), ourEvent()]);
  await place.tamper(insertBefore(-1, stream));
  await place.tamper('update event_log.event set position = 0 where position = 2');
  const [page = []] = await Array.fromAsync(opened.eventLog.read(stream));
  expect(page.map(({ type }) => type)).toEqual(['thing.noted', REFUSED, REFUSED]);
});

test('a log that has nothing but an event before the first position is an empty one', async ({ place }) => {
  {
    await using former = await place.openFormer();
    const stream = thing();
    await former.append(stream, NO_STREAM, [ourEvent()]);
    await place.tamper(insertBefore(-1, stream));
    await place.tamper('delete from event_log.event where position = 1');
  }
  for (const before of ['no start', 'a start']) {
    await using opened = await place.open();
    expect(await opened.eventLog.head(), before).toBe(before === 'no start' ? 0 : 1);
    await opened.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
    const { rows } = await place.pool.query('select statement from public.authentic_events');
    expect(JSON.parse(rows[0].statement).epochs).toMatchObject([{ from: 0 }]);
  }
  expect(place.lines.warnings).toEqual([]);
  await place.tamper('delete from event_log.event where position > 0');
  await using anew = await place.open();
  expect(await anew.eventLog.head()).toBe(0);
  const appended = await anew.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
  expect(appended?.position).toBe(1);
});
