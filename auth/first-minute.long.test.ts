import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { firstMinutePath } from '#process/first-minute-file.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type AccountsSite, openAccountsSite } from '../test/engines/accounts-site.ts';
import { by, system } from '../test/engines/command-side.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { prepareFirstMinute } from './first-minute.ts';
import { forgetFirstMinute } from './forget-first-minute.ts';
import type { Person } from './persons/person-table.ts';

const EMAIL = 'demo@example.com';
const CLIENT = 'development-admin';

let opened = new AsyncDisposableStack();
let site: AccountsSite;
let dataDir: string;
beforeEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
  site = opened.use(await openAccountsSite());
  dataDir = opened.use(await temporaryDataDir()).path;
});
afterAll(() => opened.disposeAsync());

const prepare = (differences: object = {}, folder = dataDir) =>
  prepareFirstMinute(
    {
      domain: publishing,
      ...site.auth,
      pool: site.pool,
      masterKey: site.masterKey,
      rowProofs: site.rowProofs,
      clock: REAL_TIME,
      gateway: site.gateway,
      ...differences,
    },
    folder,
  );
const forget = () => forgetFirstMinute({ ...site.auth, pool: site.pool });
const authorOf = async (): Promise<Person> => {
  const person = await site.auth.persons.byEmail(EMAIL);
  if (person === undefined) throw new Error('there is no author');
  return person;
};

const operator = { caller: system, requestId: 'test' };

const signIn = async (userId: UserId) => {
  await site.pool.query(
    `insert into auth.record (kind, id_hash, sealed, grant_id, account_id)
     values ('Session', '\\x01', '', null, $1), ('Grant', '\\x02', '', 'granted', $1), ('RefreshToken', '\\x03', '', 'granted', $1)`,
    [String(userId)],
  );
};

const signedIn = async (userId: UserId) => {
  const { rowCount } = await site.pool.query('select from auth.record where account_id = $1', [
    String(userId),
  ]);
  return rowCount;
};

test('the client may ask for all scopes of the domain, including new ones', async () => {
  const { client } = await prepare();
  const all = (await site.auth.clients.find(client.clientId))?.scopes;
  const by = { caller: { kind: 'system', name: 'test' }, requestId: 'test' } as const;
  const apply = (settings: ClientSettings) => ({
    ...settings,
    scopes: ['read:users'],
    defaultScopes: ['read:users'],
  });
  await site.auth.clients.change(client.clientId, { apply }, by);
  expect((await prepare()).client).toEqual(client);
  expect(await site.auth.clients.find(client.clientId)).toMatchObject({ scopes: all, defaultScopes: all });
});

test('a start from another data folder takes nothing from the first', async () => {
  await using other = await temporaryDataDir();
  const first = await prepare();
  const { userId } = await authorOf();
  await signIn(userId);
  expect(await prepare({}, other.path)).toEqual(first);
  expect(await prepare()).toEqual(first);
  expect(await site.auth.clients.verifySecret(CLIENT, first.client.secret)).toBe(true);
  expect(await site.auth.credentials.verify(userId, first.author.password)).toBe(true);
  expect(await signedIn(userId)).toBe(3);
});

test('two first starts at once get the same access', async () => {
  await using other = await temporaryDataDir();
  const [one, two] = await Promise.all([prepare(), prepare({}, other.path)]);
  expect(one).toEqual(two);
});

test('after an operator has rotated the secret, the next start makes another that all folders find', async () => {
  await using other = await temporaryDataDir();
  const first = await prepare();
  await site.auth.clients.rotateSecret(CLIENT, operator);
  const second = await prepare({}, other.path);
  expect(second.client.secret).not.toBe(first.client.secret);
  expect(second.author).toEqual(first.author);
  expect(await prepare()).toEqual(second);
});

test('an installation of an earlier release shares what its data folder has', async () => {
  await using other = await temporaryDataDir();
  const first = await prepare();
  await site.pool.query('update auth.first_minute set sealed = null');
  await prepare();
  expect(await prepare({}, other.path)).toEqual(first);
});

test('production ends the author’s password, sessions and grants, and the client', async () => {
  const { author } = await prepare();
  const { userId } = await authorOf();
  await signIn(userId);
  expect(await forget()).toBe(true);
  expect(await site.auth.credentials.verify(userId, author.password)).toBe(false);
  expect(await signedIn(userId)).toBe(0);
  expect(await site.auth.clients.find(CLIENT)).toBeUndefined();
});

test('the author is locked out even if the client was deleted before', async () => {
  const { author } = await prepare();
  const { userId } = await authorOf();
  await site.auth.clients.remove(CLIENT, undefined, operator);
  await signIn(userId);
  expect(await forget()).toBe(true);
  expect(await site.auth.credentials.verify(userId, author.password)).toBe(false);
  expect(await signedIn(userId)).toBe(0);
});

test('the author is locked out even with another address', async () => {
  const { author } = await prepare();
  const { userId } = await authorOf();
  const { version } = await site.gateway.send(
    { type: 'UpdateUser', userId, email: 'me@example.com' },
    by(system),
  );
  await site.auth.persons.register({ userId, version, email: 'me@example.com', role: 'author' });
  await forget();
  expect(await site.auth.credentials.verify(userId, author.password)).toBe(false);
});

test('the client is removed even if the author was deleted before', async () => {
  await prepare();
  await site.deletePerson((await authorOf()).userId);
  expect(await forget()).toBe(true);
  expect(await site.auth.clients.find(CLIENT)).toBeUndefined();
});

test('a removed client is not looked for again, and an installation that was always production stays untouched', async () => {
  const password = 'their own password';
  expect(await forget()).toBe(false);
  await prepare();
  await forget();
  const { userId } = await authorOf();
  await site.auth.credentials.set(userId, password);
  expect(await forget()).toBe(false);
  expect(await site.auth.credentials.verify(userId, password)).toBe(true);
});

test('if the directory does not know the author yet, the reported password still is theirs', async () => {
  await prepare();
  await forget();
  let looks = 0;
  const behind = {
    ...site.auth.persons,
    byEmail: async (email: string) => (looks++ < 2 ? undefined : site.auth.persons.byEmail(email)),
  };
  const { author } = await prepare({ persons: behind });
  expect(await site.auth.credentials.verify((await authorOf()).userId, author.password)).toBe(true);
  expect(JSON.parse(await readFile(firstMinutePath(dataDir), 'utf8')).author.password).toBe(author.password);
});
