// Over 200 lines, because every change of a client is tried with the processes that are set up here.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ClientSettings as Settings } from '#shared/clients/settings.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { test as base, WEB } from '../../test/engines/client-api.ts';
import { ClientSettings } from '../../test/engines/client-settings.ts';
import { by as contextOf, system } from '../../test/engines/command-side.ts';
import { nowS } from '../../test/token-mint.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { createSecurityLog, type RecordSecurityEvent } from '../security/security-log.ts';
import type { EndedGrant } from '../storage/end-records.ts';
import { type Clients, createClients } from './clients.ts';

const test = base
  .extend('ended', { scope: 'file' }, [] as EndedGrant[])
  .extend(
    'recordInLog',
    { scope: 'file' },
    ({ api }): RecordSecurityEvent =>
      (event, context) =>
        createSecurityLog(api.side)(event, context),
  )
  /** The clients of another process. */
  .extend(
    'processWith',
    { scope: 'file' },
    ({ api, ended, recordInLog }) =>
      ({ record = recordInLog, gateway = api.side }: Differences): Clients =>
        createClients({
          domain: api.side.domain,
          pool: api.side.pool,
          clock: api.side.clock,
          gateway,
          rowProofs: api.rowProofs,
          eventLog: api.side.eventLog,
          persons: { register: async () => void (await api.side.pool.query('select 1')) },
          record,
          onEnded: async (grant) => void ended.push(grant),
        }),
  )
  .extend('clients', { scope: 'file' }, ({ processWith }) => processWith({}))
  .extend(
    'register',
    { scope: 'file' },
    ({ clients }) =>
      async (settings: Settings) =>
        (await clients.register({ clientId: newId(), settings }, by)).client.clientId,
  )
  .extend(
    'isGood',
    { scope: 'file' },
    ({ api }) =>
      async (token: string) =>
        (await fetch(`${api.server.url}/me`, { headers: { Authorization: `Bearer ${token}` } })).status ===
        200,
  )
  .extend('keep', { scope: 'file' }, ({ api }) => async (clientId: string, kind: string) => {
    await api.side.pool.query(
      `insert into auth.record (kind, id_hash, sealed, grant_id, account_id, client_id) values ($1, sha256($2), '', $3, '7001', $4)`,
      [kind, Buffer.from(randomUUID()), kind === 'Grant' ? `grant-${clientId}` : null, clientId],
    );
  })
  .extend('keptKinds', { scope: 'file' }, ({ api }) => async (clientId: string) => {
    const { rows } = await api.side.pool.query(
      'select kind from auth.record where client_id = $1 order by kind',
      [clientId],
    );
    return rows.map(({ kind }) => kind);
  });

const by = { caller: system, requestId: 'test' };

type Differences = { readonly record?: RecordSecurityEvent; readonly gateway?: CommandGateway };

const SERVICE = ClientSettings.parse({
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:articles', 'write:articles'],
});
const APP = ClientSettings.parse({
  ...WEB,
  firstParty: true,
  scopes: ['openid', 'email', 'read:articles', 'write:articles'],
});

const newId = () => `ends-${randomUUID().slice(0, 8)}`;

describe.concurrent('a token issued while a change waits for the log', () => {
  test.for<[string, (slow: Clients, clientId: string) => Promise<unknown>]>([
    ['the rotation of the secret', (slow, clientId) => slow.rotateSecret(clientId, by)],
    [
      'the loss of a scope',
      (slow, clientId) =>
        slow.change(clientId, { apply: (old) => ({ ...old, scopes: ['read:articles'] }) }, by),
    ],
    [
      'the disabling',
      (slow, clientId) => slow.change(clientId, { apply: (old) => ({ ...old, disabled: true }) }, by),
    ],
    ['the deletion', (slow, clientId) => slow.remove(clientId, undefined, by)],
  ])('ends with %s', async ([_, change], { api, isGood, processWith, recordInLog, register }) => {
    const clientId = await register(SERVICE);
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = processWith({
      async record(event, context) {
        reached.resolve();
        await released.promise;
        await recordInLog(event, context);
      },
    });
    const changing = change(slow, clientId);
    await reached.promise;
    const revokedAtS = nowS();
    // A whole second after the time that the first revocation covers.
    const token = await api.mint.token({
      client_id: clientId,
      iat: await until(nowS, (now) => now > revokedAtS + 2),
    });
    released.resolve();
    await changing;
    await until(
      () => isGood(token),
      (good) => !good,
      3_000,
    );
  });
});

test('a rotation takes at most about two and a half seconds', async ({ clients, register }) => {
  const clientId = await register(SERVICE);
  const beganMs = performance.now();
  await clients.rotateSecret(clientId, by);
  expect(performance.now() - beganMs).toBeLessThan(scaled(3_500));
});

describe.concurrent('what users granted a client', () => {
  test.for<[string, (old: Settings) => Settings]>([
    ['when it is disabled', (old) => ({ ...old, disabled: true })],
    ['when it is not ours any more', (old) => ({ ...old, firstParty: false })],
    [
      'with a scope about the user',
      (old) => ({ ...old, scopes: ['openid', 'read:articles', 'write:articles'] }),
    ],
  ])('ends %s', async ([_, apply], { clients, ended, keep, keptKinds, register }) => {
    const clientId = await register(APP);
    await keep(clientId, 'Grant');
    await keep(clientId, 'RefreshToken');
    await clients.change(clientId, { apply }, by);
    expect(await keptKinds(clientId)).toEqual([]);
    expect(ended.filter((grant) => grant.clientId === clientId)).toEqual([
      { grantId: `grant-${clientId}`, accountId: '7001', clientId },
    ]);
  });

  test('survive the loss of an API scope, but opaque tokens do not', async ({
    clients,
    keep,
    keptKinds,
    register,
  }) => {
    const clientId = await register(APP);
    for (const kind of ['AccessToken', 'Grant', 'RefreshToken']) await keep(clientId, kind);
    await clients.change(
      clientId,
      { apply: (old) => ({ ...old, scopes: ['openid', 'email', 'read:articles'] }) },
      by,
    );
    expect(await keptKinds(clientId)).toEqual(['Grant', 'RefreshToken']);
  });

  test('end in the same transaction as their client, so that a new client with its id inherits nothing', async ({
    api,
    clients,
    keep,
    register,
  }) => {
    const clientId = await register(APP);
    await keep(clientId, 'Grant');
    const removing = clients.remove(clientId, undefined, by);
    const { rows } = await until(
      () =>
        api.side.pool.query(
          `select (select count(*) from auth.client where client_id = $1) as clients,
                  (select count(*) from auth.record where client_id = $1) as records`,
          [clientId],
        ),
      (seen) => seen.rows[0].clients === 0,
    );
    await removing;
    expect(rows).toEqual([{ clients: 0, records: 0 }]);
  });

  test('issued meanwhile by a process with an old cache, end soon after', async ({
    api,
    clients,
    keep,
    keptKinds,
    register,
  }) => {
    const clientId = await register(APP);
    const removing = clients.remove(clientId, undefined, by);
    await until(
      () => api.side.pool.query('select from auth.client where client_id = $1', [clientId]),
      ({ rowCount }) => rowCount === 0,
    );
    await keep(clientId, 'Grant');
    await removing;
    expect(await keptKinds(clientId)).toEqual([]);
  });
});

describe('service accounts', () => {
  test(
    'of many clients can be made in parallel',
    async ({ clients, register }) => {
      const ids = await Promise.all(Array.from({ length: 12 }, () => register(APP)));
      const apply = () => ({ ...SERVICE, scopes: APP.scopes, firstParty: true });
      const changed = await Promise.all(ids.map((id) => clients.change(id, { apply }, by)));
      expect(new Set(changed.map(({ client }) => client.serviceAccount)).size).toBe(12);
    },
    scaled(20_000),
  );

  test('are not made twice by a retry after a crash', async ({ api, processWith }) => {
    const clientId = newId();
    const failing = processWith({ record: () => Promise.reject(new Error('the log is away')) });
    const made: number[] = [];
    const gateway: CommandGateway = {
      send: async (command, context = contextOf(system)) => {
        const result = await api.side.send(command, context);
        made.push(result.id);
        return result;
      },
    };
    await expect(failing.register({ clientId, settings: SERVICE }, by)).rejects.toThrow('the log is away');
    const first = processWith({ gateway, record: () => Promise.reject(new Error('the log is away')) });
    await expect(first.register({ clientId, settings: SERVICE }, by)).rejects.toThrow('the log is away');
    const { client } = await processWith({ gateway }).register({ clientId, settings: SERVICE }, by);
    expect(new Set([...made, client.serviceAccount]).size).toBe(1);
  });
});
