import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { policyOf } from '#shared/policy.ts';
import { logNewScopes } from '../auth/clients/new-scopes.ts';
import { callAt } from '../test/engines/call-line.ts';
import { createDatabase } from '../test/engines/database.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

const open = async () => {
  const database = await createDatabase();
  const call = (...args: readonly string[]) =>
    callAt({ environment: { DATABASE_URL: database.url, MASTER_KEY } }, ['client', ...args]);
  return { call, url: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
};

test('a client can be created, listed, shown, given a new secret, and deleted', async () => {
  await using annals = await open();
  const made = await annals.call(
    'create',
    'Importer',
    '--id',
    'importer',
    '--service',
    '--role',
    'author',
    '--scope',
    'read:articles write:articles',
  );
  expect(made).toMatchObject({ exit: 0, complaint: 'Save the secret: it is not shown again.' });
  const { secret, ...shown } = JSON.parse(made.output);
  expect(secret).toMatch(/^annals_secret_/);
  expect(shown).toMatchObject({
    serviceAccount: expect.any(Number),
    scopes: ['read:articles', 'write:articles'],
    grantTypes: ['client_credentials'],
  });
  const listed = await annals.call('list');
  // The console exists from the start.
  expect(listed.output.split('\n')).toEqual([
    expect.stringMatching(/^console /),
    'importer  "Importer"  read:articles write:articles  never used',
  ]);
  expect(JSON.parse((await annals.call('show', 'importer')).output)).toEqual(shown);
  const rotated = await annals.call('rotate-secret', 'importer');
  expect(rotated.output).toMatch(/^annals_secret_/);
  expect(rotated.output).not.toBe(secret);
  expect(await annals.call('delete', 'importer')).toMatchObject({ exit: 0, output: 'importer is deleted.' });
  expect(await annals.call('list')).toMatchObject({ exit: 0, output: expect.stringMatching(/^console .*$/) });
});

test('deleting a client ends its grants, and the log records that', async () => {
  await using annals = await open();
  await annals.call('create', 'Web', '--id', 'web', '--redirect-uri', 'https://a.example/1');
  await using pool = openPool({ url: annals.url, applicationName: 'test', connectionsMax: 1 });
  await pool.query(
    `insert into auth.record (kind, id_hash, sealed, grant_id, account_id, client_id) values ('Grant', '', '', 'granted', '7001', 'web')`,
  );
  expect(await annals.call('delete', 'web')).toMatchObject({ exit: 0 });
  const { rows } = await pool.query(`select from auth.record where client_id = 'web'`);
  expect(rows).toEqual([]);
  await using log = await openEventLog({ url: annals.url, clock: REAL_TIME });
  const events = [];
  for await (const page of log.read('grant-granted' as StreamName)) events.push(...page);
  expect(events).toMatchObject([{ type: 'grant.revoked' }]);
});

test('a client for persons may refresh their grants', async () => {
  await using annals = await open();
  const { output } = await annals.call(
    'create',
    'Web',
    '--redirect-uri',
    'https://a.example/1',
    '--redirect-uri',
    'https://a.example/2',
    '--device',
  );
  expect(JSON.parse(output)).toMatchObject({
    grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    redirectUris: ['https://a.example/1', 'https://a.example/2'],
    tokenEndpointAuthMethod: 'none',
  });
});

test('a client gets the scopes added since its last change, once, and no others', async () => {
  await using annals = await open();
  const service = ['--service', '--scope'];
  await annals.call('create', 'Importer', '--id', 'importer', ...service, 'read:articles');
  await annals.call(
    'create',
    'Reader',
    '--id',
    'reader',
    ...service,
    'read:articles read:users',
    '--default-scope',
    'read:users',
  );
  await annals.call('create', 'Nobody', '--id', 'nobody', '--device', '--scope', 'openid');
  expect(await annals.call('grant-scopes', '--all')).toMatchObject({
    exit: 0,
    output: 'There is no new scope for any client.',
  });
  await using pool = openPool({ url: annals.url, applicationName: 'test', connectionsMax: 1 });
  // As if the domain declared it only from the next start on.
  await pool.query(`delete from auth.known_scope where scope = 'read:comments'`);
  expect(await annals.call('grant-scopes', 'reader')).toMatchObject({
    exit: 0,
    output: 'reader may request read:articles read:users read:comments.',
  });
  expect(JSON.parse((await annals.call('show', 'reader')).output)).toMatchObject({
    defaultScopes: ['read:users'],
  });
  const told: unknown[] = [];
  const log = { warn: ((given: unknown) => void told.push(given)) as never };
  await logNewScopes({ pool, scopes: policyOf(publishing).scopes, log });
  expect(told).toEqual([{ clients: { importer: ['read:comments'] } }]);
  expect((await annals.call('grant-scopes', '--all')).output).toBe(
    'importer may request read:articles read:comments.',
  );
  expect(JSON.parse((await annals.call('show', 'importer')).output)).toMatchObject({
    defaultScopes: ['read:articles', 'read:comments'],
  });
  expect((await annals.call('grant-scopes', 'importer')).output).toBe('There is no new scope for importer.');
  expect((await annals.call('grant-scopes', 'nobody', '--scope', 'read:users')).output).toBe(
    'nobody may request openid read:users.',
  );
});

test.each<[string, readonly string[], number, string]>([
  ['scopes for whom nobody has named', ['grant-scopes'], 64, 'give the <id> of the client'],
  [
    'a scope that is not there',
    ['grant-scopes', 'nobody', '--scope', 'read:papers'],
    1,
    'There is no scope read:papers',
  ],
  [
    'a client for nothing',
    ['create', 'Web'],
    64,
    'give at least one of --redirect-uri, --device, --service and --agent',
  ],
  [
    'an unsafe redirect',
    ['create', 'Web', '--redirect-uri', 'http://a.example/'],
    64,
    '--redirect-uri: Must be https',
  ],
  ['an unknown scope', ['create', 'Web', '--device', '--scope', 'everything'], 64, '--scope:'],
  ['a bad id', ['create', 'Web', '--device', '--id', 'A B'], 64, 'id: Must be 3 to 63'],
  ['an unknown client', ['show', 'nobody'], 1, 'There is no client nobody.'],
  ['an unknown client to delete', ['delete', 'nobody'], 1, 'There is no such client.'],
  ['an unknown client to rotate', ['rotate-secret', 'nobody'], 1, 'There is no such client.'],
])('%s is refused', async (_, args, exit, complaint) => {
  await using annals = await open();
  expect(await annals.call(...args)).toMatchObject({ exit, complaint: expect.stringContaining(complaint) });
});
