import { expect, test } from 'vitest';
import type { LogIdentity } from '#shared/brands.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { callLine } from '../test/engines/call-line.ts';
import {
  type CommandWorld,
  createCommandWorld,
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
const writeIn = async (world: CommandWorld): Promise<void> => {
  await using side = await world.open();
  await draftArticle(side, await registerUser(side));
  const head = await side.eventLog.head();
  await until(
    () => checkpointsOf(world),
    (checkpoints) => checkpoints.length > 0 && checkpoints.every(({ position }) => position === head),
  );
};

const checkpointsOf = (world: CommandWorld) =>
  inDatabase(world.settings.DATABASE_URL ?? '', async (client) => {
    const { rows } = await client.query<{ log: LogIdentity; position: string }>(
      'select log, position from public.follower_checkpoint',
    );
    return rows.map(({ log, position }) => ({ log, position: Number(position) }));
  });

const identityOf = async ({ settings }: CommandWorld): Promise<LogIdentity> => {
  await using eventLog = await openEventLog({ url: settings.EVENT_LOG_URL ?? settings.DATABASE_URL ?? '' });
  return eventLog.identity;
};

test.each(places)('a log in %s gets a new identity, and the database with it', async (_where, startLog) => {
  await using world = await createCommandWorld(startLog);
  await writeIn(world);
  const before = await identityOf(world);
  const positions = (await checkpointsOf(world)).map(({ position }) => position);
  const renewed = await callLine(world.settings, ['log', 'renew']);
  expect(renewed, renewed.complaint).toMatchObject({ exit: 0 });
  const after = await identityOf(world);
  expect(after).not.toBe(before);
  expect(await checkpointsOf(world)).toEqual(positions.map((position) => ({ log: after, position })));
  // Followers of the log continue.
  await writeIn(world);
});

test(
  'it is refused while a part of Annals runs',
  async () => {
    await using world = await createCommandWorld();
    await using _side = await world.open();
    const before = await identityOf(world);
    const refused = await callLine(world.settings, ['log', 'renew']);
    expect(refused.exit).not.toBe(0);
    expect(refused.complaint).toContain('process-manager');
    expect(await identityOf(world)).toBe(before);
  },
  scaled(60_000),
);
