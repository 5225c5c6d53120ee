import { randomUUID } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { keepLogOwner, readLogOwner } from '#shared/event-log/owner/owner.ts';
import { callAt } from '../test/engines/call-line.ts';
import { createCommandDatabase, registerUser } from '../test/engines/command-side.ts';
import { createDatabase } from '../test/engines/database.ts';
import { startEventStoreStandIn } from '../test/engines/eventstoredb/server.ts';
import { test as base } from '../test/engines/processes.ts';
import { inDatabase } from '../testing/database/search-everywhere.ts';

/** The neighbour is alive on the server that a new installation is given by mistake. */
const test = base
  .extend('standIn', { scope: 'file' }, async ({ databaseOptions: _none }, { onCleanup }) => {
    const standIn = await startEventStoreStandIn();
    onCleanup(() => standIn[Symbol.asyncDispose]());
    return standIn;
  })
  .extend('neighbour', { scope: 'file' }, async ({ standIn }, { onCleanup }) => {
    const database = await createCommandDatabase({
      startLog: async () => ({ url: standIn.address, [Symbol.asyncDispose]: async () => {} }),
    });
    onCleanup(() => database[Symbol.asyncDispose]());
    await using side = await database.open();
    const userId = await registerUser(side);
    const owner = await keepLogOwner(side.pool);
    const open = () => openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, owner });
    await using log = await open();
    return { owner, userId, identity: log.identity, open, settings: database.settings };
  })
  .extend('newcomer', { scope: 'file' }, async ({ neighbour }, { onCleanup }) => {
    const database = await createDatabase();
    onCleanup(() => database[Symbol.asyncDispose]());
    const settings = { ...neighbour.settings, DATABASE_URL: database.url };
    const call = (...args: readonly string[]) =>
      callAt({ environment: settings }, ['erasure', 'lost-keys', ...args]);
    return { url: database.url, call };
  })
  .extend('recordsNow', { scope: 'file' }, ({ standIn }) => async () => {
    const client = EventStoreDBClient.connectionString(standIn.address);
    const { length } = await Array.fromAsync(client.readAll());
    await client.dispose();
    return length;
  });

test('a list shows the log of another installation, and writes nothing', async ({
  neighbour: { identity, owner, userId, open },
  newcomer: { url, call },
  recordsNow,
}) => {
  const before = await recordsNow();
  const listed = await call();
  expect(listed, listed.complaint).toMatchObject({ exit: 0, complaint: '' });
  const [what, when, how, ...users] = listed.lines;
  expect(what).toBe(
    `The event log ${identity}, with EVENT_LOG_PREFIX annals, belongs to another installation, ${owner.id}.`,
  );
  expect(when).toMatch(
    /^Its newest event is of 20\S+Z, \d\S* s ago: if that installation is alive, leave its log/,
  );
  expect(how).toContain(`erasure lost-keys --erase --log ${identity}`);
  expect(users).toEqual([`user ${userId}`]);
  expect(await recordsNow()).toBe(before);
  const { rows } = await inDatabase(url, (client) =>
    client.query(
      `select to_regclass('public.person_key') as keys, to_regclass('public.event_log_owner') as owner`,
    ),
  );
  expect(rows).toEqual([{ keys: null, owner: null }]);
  await using log = await open();
  expect(log.identity).toBe(identity);
});

test('the log of another installation is only taken over by its identity', async ({
  neighbour: { identity, userId, open },
  newcomer: { url, call },
  recordsNow,
}) => {
  const before = await recordsNow();
  expect(await call('--log', identity)).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('--erase'),
  });
  expect(await call('--erase')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(
      new RegExp(`^The event log ${identity}.+ belongs .+--log ${identity}`, 's'),
    ),
  });
  expect(await call('--erase', '--log', randomUUID())).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining(`is ${identity}, and not`),
  });
  expect(await recordsNow()).toBe(before);
  await using log = await open();
  const taken = await call('--erase', '--log', identity);
  expect(taken, taken.complaint).toMatchObject({ exit: 0 });
  expect(taken.output).toContain('belongs to this installation now');
  expect(taken.output).toContain('1 persons without a key were erased');
  await expect(open()).rejects.toThrow(`--log ${identity}`);
  expect(await call()).toMatchObject({ exit: 0, lines: [expect.stringContaining('every person')] });
  expect(log.identity).toBe(identity);
  const { id } = await inDatabase(url, (client) => readLogOwner(client));
  expect(id).toBeDefined();
  expect(userId).toBeDefined();
});
