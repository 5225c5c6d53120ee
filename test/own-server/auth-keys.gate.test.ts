import { decodeProtectedHeader } from 'jose';
import { expect, test } from 'vitest';
import { rotateSigningKeys } from '../../auth/signing-keys/signing-keys.ts';
import { until } from '../../testing/until.ts';
import {
  type AuthInstance,
  createAuthDatabase,
  ISSUER,
  registerClient,
  serviceClient,
} from '../engines/auth-database.ts';
import { basic, post } from '../engines/oauth.ts';

// Own server: it turns the clock of signing keys forward in the database.

const QUICK = { keysPollMs: 20 };

const published = async (instance: AuthInstance): Promise<string[]> => {
  const { keys } = (await (await instance.fetch(`${ISSUER}/jwks`)).json()) as {
    keys: { kid: string; d?: string }[];
  };
  expect(keys.every(({ d }) => d === undefined)).toBe(true);
  return keys.map(({ kid }) => kid);
};

test('a new key is published first and signs later, and the old one stays, in every process and without a restart', async () => {
  await using database = await createAuthDatabase();
  await using one = await database.open(QUICK);
  await using two = await database.open(QUICK);
  const client = await registerClient(one, serviceClient);
  const token = async (instance: AuthInstance) =>
    String(
      (await post(instance, '/token', { grant_type: 'client_credentials' }, basic(client))).body.access_token,
    );
  const signer = async (instance: AuthInstance) => decodeProtectedHeader(await token(instance)).kid;
  const [first] = await published(one);
  expect(await published(two)).toEqual([first]);
  const early = await token(one);

  const { kid: second } = await rotateSigningKeys(
    { pool: one.pool, masterKey: database.masterKey },
    { overlapS: 60 },
  );
  for (const instance of [one, two]) {
    await until(
      () => published(instance),
      (kids) => kids.length === 2,
    );
    expect(await published(instance)).toContain(second);
    expect(await signer(instance)).toBe(first);
  }

  // Simulates the end of the overlap.
  await one.pool.query(`update auth.signing_key set signs_from = now() where kid = $1`, [second]);
  for (const instance of [one, two]) {
    await until(
      () => signer(instance),
      (kid) => kid === second,
    );
    expect((await published(instance)).sort()).toEqual([String(first), second].sort());
    expect((await post(instance, '/introspect', { token: early }, basic(client))).body.active).toBe(true);
  }

  // Simulates the expiry of everything that the first one has signed.
  await one.pool.query(`update auth.signing_key set signs_from = signs_from - interval '1 day'`);
  for (const instance of [one, two])
    await until(
      () => published(instance),
      (kids) => kids.length === 1 && kids[0] === second,
    );
});

test('processes that start in parallel make one key', async () => {
  await using database = await createAuthDatabase();
  await using opening = new AsyncDisposableStack();
  const instances = await Promise.all(
    Array.from({ length: 3 }, async () => opening.use(await database.open())),
  );
  const all = await Promise.all(instances.map(published));
  expect(new Set(all.flat()).size).toBe(1);
});

test('production does not make keys by itself, and names the command that does', async () => {
  await using database = await createAuthDatabase();
  const masterKey = database.masterKey.export().toString('base64');
  const settings = { NODE_ENV: 'production', MASTER_KEY: masterKey };
  await expect(database.open({ settings })).rejects.toThrow('npm run annals -- keys rotate');
});
