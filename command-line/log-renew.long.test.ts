import { expect, test } from 'vitest';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { callLine } from '../test/engines/call-line.ts';
import {
  type CommandDatabase,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { createDatabase } from '../test/engines/database.ts';
import { inTheDatabase, type StartLog } from '../test/engines/log-engines.ts';
import { inDatabase } from '../testing/database/search-everywhere.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';

const inAnotherDatabase: StartLog = async () => {
  const database = await createDatabase();
  return { url: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
};
const places: readonly (readonly [string, StartLog])[] = [
  ['the database', inTheDatabase],
  ['another database', inAnotherDatabase],
];

/** Writes, and waits until all followers have processed it. */
const writeIn = async (database: CommandDatabase): Promise<void> => {
  await using side = await database.open();
  await draftArticle(side, await registerUser(side));
  const head = await side.eventLog.head();
  await until(
    () => checkpointsOf(database),
    (checkpoints) => checkpoints.length > 0 && checkpoints.every(({ position }) => position === head),
  );
};

const checkpointsOf = (database: CommandDatabase) =>
  inDatabase(database.settings.DATABASE_URL ?? '', async (client) => {
    const { rows } = await client.query<{ log: LogIdentity; position: string }>(
      'select log, position from public.follower_checkpoint',
    );
    return rows.map(({ log, position }) => ({ log, position: Number(position) }));
  });

const identityOf = async ({ settings }: CommandDatabase): Promise<LogIdentity> => {
  await using eventLog = await openEventLog({
    url: settings.EVENT_LOG_URL ?? settings.DATABASE_URL ?? '',
    clock: REAL_TIME,
  });
  return eventLog.identity;
};

test.each(places)('a log in %s gets a new identity, and the database with it', async (_where, startLog) => {
  await using database = await createCommandDatabase({ startLog });
  await writeIn(database);
  const before = await identityOf(database);
  const positions = (await checkpointsOf(database)).map(({ position }) => position);
  const renewed = await callLine(database.settings, ['log', 'renew']);
  expect(renewed, renewed.complaint).toMatchObject({ exit: 0 });
  const after = await identityOf(database);
  expect(after).not.toBe(before);
  expect(await checkpointsOf(database)).toEqual(positions.map((position) => ({ log: after, position })));
  // Followers of the log continue.
  await writeIn(database);
});

test('a restored dump of a release without MACs gets a new identity too', async () => {
  await using database = await createCommandDatabase();
  await writeIn(database);
  const before = await identityOf(database);
  await inDatabase(database.settings.DATABASE_URL ?? '', async (client) => {
    await client.query('drop table public.authentic_events, public.decided_events');
    await client.query(`delete from public.annals_migration where component like 'authentic-events%'`);
  });
  const renewed = await callLine(database.settings, ['log', 'renew']);
  expect(renewed, renewed.complaint).toMatchObject({ exit: 0 });
  expect(await identityOf(database)).not.toBe(before);
});

test(
  'it is refused while a part of Annals runs',
  async () => {
    await using database = await createCommandDatabase();
    await using _side = await database.open();
    const before = await identityOf(database);
    const refused = await callLine(database.settings, ['log', 'renew']);
    expect(refused.exit).not.toBe(0);
    expect(refused.complaint).toContain('process-manager');
    expect(await identityOf(database)).toBe(before);
  },
  scaled(60_000),
);
