import { pino } from 'pino';
import { expect } from 'vitest';
import { inTransaction } from '#shared/database/transaction.ts';
import { registerClient, serviceClient } from '../../test/engines/auth-database.ts';
import { test as base, openAuthProcess } from '../../test/engines/auth-process.ts';
import { ClientSettings } from '../../test/engines/client-settings.ts';
import { basic, post } from '../../test/engines/oauth.ts';
import { until } from '../../testing/until.ts';
import { deleteClient, selectClient, selectClientForUpdate } from './client-table.ts';
import { createNoteUse } from './client-uses.ts';

const test = base
  .extend(
    'askToken',
    { scope: 'file' },
    ({ one }) =>
      async ({ clientId, secret }: Made, at = one, given = secret): Promise<number> => {
        const form = { grant_type: 'client_credentials', scope: 'read:articles' };
        return (await post(at.auth, '/token', form, basic({ clientId, secret: given }))).status;
      },
  )
  .extend(
    'useOf',
    { scope: 'file' },
    ({ one }) =>
      async ({ clientId }: Made): Promise<Date | undefined> =>
        (await one.auth.service.clients.usesOf([clientId])).get(clientId),
  )
  .extend(
    'used',
    { scope: 'file' },
    ({ useOf }) =>
      (client: Made) =>
        until(
          () => useOf(client),
          (at) => at !== undefined,
        ),
  )
  .extend(
    'setUse',
    { scope: 'file' },
    ({ one }) =>
      ({ clientId }: Made, before: string) =>
        one.auth.pool.query(
          `update auth.client_use set used_at = now() - $2::interval where client_id = $1`,
          [clientId, before],
        ),
  );

const BY = { caller: { kind: 'system', name: 'test' }, requestId: 'test' } as const;

type Made = Awaited<ReturnType<typeof registerClient>>;

test('a client is used once it gets a token, not by one that it is refused', async ({
  askToken,
  one,
  useOf,
  used,
}) => {
  const client = await registerClient(one.auth, serviceClient);
  expect(await askToken(client, one, 'annals_secret_wrong')).toBe(401);
  expect(await useOf(client)).toBeUndefined();
  const before = Date.now();
  expect(await askToken(client)).toBe(200);
  expect(Math.abs(Number(await used(client)) - before)).toBeLessThan(60_000);
});

test('within half an hour nothing is written again, by any process; after it, it is', async ({
  askToken,
  database,
  one,
  other,
  setUse,
  useOf,
  used,
}) => {
  const client = await registerClient(one.auth, serviceClient);
  await askToken(client);
  await used(client);
  await setUse(client, '29 minutes');
  const known = await useOf(client);
  for (const at of [one, other]) expect(await askToken(client, at)).toBe(200);
  // A use that is written later than those would have been.
  const witness = await registerClient(one.auth, serviceClient);
  await askToken(witness, other);
  await used(witness);
  expect(await useOf(client)).toEqual(known);
  await setUse(client, '31 minutes');
  const third = await openAuthProcess(database);
  expect(await askToken(client, third)).toBe(200);
  await until(
    () => useOf(client),
    (at) => Number(at) > Number(known),
  );
  await third[Symbol.asyncDispose]();
});

test('a client that is deleted leaves nothing, and another one with its id is used again', async ({
  askToken,
  one,
  other,
  useOf,
  used,
}) => {
  const client = await registerClient(one.auth, serviceClient);
  for (const at of [one, other]) await askToken(client, at);
  await used(client);
  const { clients } = one.auth.service;
  await clients.remove(client.clientId, undefined, BY);
  expect(await useOf(client)).toBeUndefined();
  const { clientId } = client;
  const settings = ClientSettings.parse({ name: 'Its successor', ...serviceClient });
  const { secret = '' } = await clients.register({ clientId, settings }, BY);
  expect(await askToken({ ...client, secret }, other)).toBe(200);
  await used(client);
});

test('a use that is noted late leaves nothing of a deleted client, and is not one of its successor', async ({
  one,
  useOf,
}) => {
  const client = await registerClient(one.auth, serviceClient);
  const { clientId } = client;
  const { pool } = one.auth;
  const createdAtMs = Number((await selectClient(pool, clientId))?.createdAt);
  const noteLate = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const query = (text: string, values: unknown[]) => {
        const noted = pool.query(text, values);
        noted.then(resolve, reject);
        return noted;
      };
      const log = pino({ level: 'silent' });
      createNoteUse({ pool: { query: query as never }, log })({ clientId, createdAtMs });
    });
  const noted = await inTransaction(pool, async (connection) => {
    await selectClientForUpdate(connection, clientId);
    const waiting = noteLate();
    // On another connection, because a transaction sees only its first snapshot of pg_stat_activity.
    await until(
      async () =>
        (
          await pool.query(
            `select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%auth.client_use%'`,
          )
        ).rowCount,
      (count) => count === 1,
    );
    await deleteClient(connection, clientId);
    return { waiting };
  });
  await noted.waiting;
  expect(await useOf(client)).toBeUndefined();
  const settings = ClientSettings.parse({ name: 'Its successor', ...serviceClient });
  await one.auth.service.clients.register({ clientId, settings }, BY);
  await noteLate();
  expect(await useOf(client)).toBeUndefined();
});
