import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { membershipsOf } from '#kernel/decide/memberships.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { createReadPerson } from '#shared/persons/read-person.ts';
import { ourEvent, test } from '../../test/engines/authentic-log.ts';
import { stepsBy } from './steps.ts';

const USER = 'user-7' as StreamName;
const memberships = membershipsOf(publishing);
const stepsOf = stepsBy(memberships);

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await log.page?.(START, 100)) ?? [];

const insert = (stream: string, type: string) =>
  `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes, mac)
   select max(position) + 1, '${stream}', 2, gen_random_uuid(), '${type}', '{}', '{}', 4, null from event_log.event`;

test('an inserted deletion without metadata erases nobody', async ({ place }) => {
  await using opened = await place.open();
  const { eventLog } = opened;
  await eventLog.append(USER, NO_STREAM, [ourEvent({ userId: 7 }, 'user.registered')]);
  await place.tamper(insert(USER, 'user.deleted'));
  expect(await isDeletionRecorded(eventLog, 7 as UserId)).toBe(false);
  const keys = { obtain: () => Promise.reject(new Error('unused')), find: async () => new Map() };
  const codec = createCodec({ keys, domain: publishing });
  const readPerson = createReadPerson({ domain: publishing, eventLog, codec });
  expect((await readPerson(7 as UserId))?.isDeleted).not.toBe(true);
  const events = await allOf(eventLog);
  expect(events.map(({ type }) => type)).toEqual(['user.registered', 'event.foreign_record']);
  await expect(codec.decodeAll(events.slice(1))).rejects.toThrow(
    /^foreign_record: event .* \(user\.deleted,/,
  );
});

test.for([...new Map(memberships.map(({ parentEnd, parentKind }) => [parentEnd, parentKind]))])(
  'an inserted %s without metadata ends no children',
  async ([parentEnd, parentKind], { place }) => {
    await using opened = await place.open();
    const stream = `${parentKind}-7` as StreamName;
    await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
    await place.tamper(insert(stream, parentEnd));
    const events = await allOf(opened.eventLog);
    expect(events).toHaveLength(2);
    expect(events.flatMap((event) => stepsOf(event))).toEqual([]);
    const [page = []] = await Array.fromAsync(opened.eventLog.read(stream));
    expect(page.map(({ type }) => type)).not.toContain(parentEnd);
  },
);
