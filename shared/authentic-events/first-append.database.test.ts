import { expect } from 'vitest';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';

/** Appends as a command does, which may run before the first start. */
const appendByCommand = async (place: AuthenticPlace): Promise<void> => {
  await using command = await place.open({ isReader: true });
  await Promise.all(
    [1, 2].map((n) => command.eventLog.append(thing(), n === 1 ? NO_STREAM : 'any', [ourEvent({ n })])),
  );
};

const startedTypes = async (place: AuthenticPlace): Promise<readonly string[] | undefined> => {
  await using opened = await place.open();
  return (await opened.eventLog.page?.(START, 100))?.map(({ type }) => type);
};

test('a log that a command has filled is opened by the first start', async ({ place }) => {
  await appendByCommand(place);
  expect(await startedTypes(place)).toEqual(['thing.noted', 'thing.noted']);
});

test('a log of an earlier release to which a command has appended is opened by the first start', async ({
  place,
}) => {
  {
    await using former = await place.openFormer();
    await former.append(thing(), NO_STREAM, [ourEvent()]);
  }
  await appendByCommand(place);
  expect(await startedTypes(place)).toEqual(['thing.noted', 'thing.noted', 'thing.noted']);
});

test('events of an earlier release count that were appended after a command had opened the empty log', async ({
  place,
}) => {
  {
    await using command = await place.open({ isReader: true });
    await using former = await place.openFormer();
    await former.append(thing(), NO_STREAM, [ourEvent()]);
    await command.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
    await former.append(thing(), NO_STREAM, [ourEvent()]);
  }
  expect(await startedTypes(place)).toEqual(['thing.noted', 'thing.noted', 'thing.noted']);
});

test('nothing is appended if it cannot be stored since when events need a MAC', async ({ place }) => {
  await using command = await place.open({ isReader: true });
  await place.pool.query('create table public.authentic_events (of_log integer)');
  await expect(command.eventLog.append(thing(), NO_STREAM, [ourEvent()])).rejects.toThrow();
  expect(await command.eventLog.head()).toBe(START);
  await place.pool.query('drop table public.authentic_events');
  await command.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
  expect(await startedTypes(place)).toEqual(['thing.noted']);
});
