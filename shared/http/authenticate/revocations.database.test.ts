import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, createResourceWorld, openResourceProcess, type ResourceWorld } from '../../../test/engines/resource-world.ts';
import { until } from '../../../test/engines/until.ts';
import { createTokenMint, nowS, type TokenMint } from '../../../test/token-mint.ts';
import { type RevocationKind, revoke } from './revocations.ts';

let world: ResourceWorld;
let mint: TokenMint;
beforeAll(async () => {
  world = await createResourceWorld();
  mint = world.mint;
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});
const get: ResourceWorld['get'] = (...asked) => world.get(...asked);

describe('a revoked', () => {
  const facts = () => ({
    jti: randomUUID(),
    grant_id: randomUUID(),
    client_id: randomUUID(),
    sub: String(Math.floor(Math.random() * 1e12) + 1),
  });
  test.each<[RevocationKind, keyof ReturnType<typeof facts>]>([
    ['jti', 'jti'],
    ['grant', 'grant_id'],
    ['client', 'client_id'],
    ['user', 'sub'],
  ])('%s ends a token that was good, within seconds', async (kind, claim) => {
    const claims = facts();
    const token = await mint.token(claims);
    const other = await mint.token();
    expect(await get(bearer(token))).toMatchObject({ status: 200 });
    await revoke(world.pool, kind, claims[claim]);
    const refused = await until(
      () => get(bearer(token)),
      ({ status }) => status === 401,
      3_000,
    );
    expect(refused.challenge).toContain('error_description="The token was revoked."');
    expect(await get(bearer(other))).toMatchObject({ status: 200 });
  });

  test.each(['client', 'user'] as const)('%s may have new tokens', async (kind) => {
    const claims = facts();
    await revoke(world.pool, kind, kind === 'client' ? claims.client_id : claims.sub);
    const old = await mint.token(claims);
    await until(
      () => get(bearer(old)),
      ({ status }) => status === 401,
      3_000,
    );
    expect(await get(bearer(await mint.token({ ...claims, iat: nowS() + 4 })))).toMatchObject({ status: 200 });
  });
});

test('what is revoked after the clock of the database was set back is found all the same', async () => {
  // As if it had been revoked before that.
  await revoke(world.pool, 'jti', 'before');
  await world.pool.query(
    `update auth.revoked set revoked_at = revoked_at + interval '1 hour', expires_at = expires_at + interval '1 hour' where value = 'before'`,
  );
  const seen = await mint.token({ jti: 'before' });
  await until(
    () => get(bearer(seen)),
    ({ status }) => status === 401,
  );
  const token = await mint.token({ jti: 'after' });
  expect(await get(bearer(token))).toMatchObject({ status: 200 });
  await revoke(world.pool, 'jti', 'after');
  await until(
    () => get(bearer(token)),
    ({ status }) => status === 401,
  );
});

describe('the keys', () => {
  test('that are new are found, and those that are gone no longer count, even for tokens seen before', async () => {
    const [first, second] = [await createTokenMint(), await createTokenMint()];
    let keys: readonly unknown[] = first.jwks.keys;
    await using own = await openResourceProcess(world.databaseUrl, async () => ({ keys }));
    const old = await first.token();
    expect(await get(bearer(old), '/me', own.url)).toMatchObject({ status: 200 });
    keys = second.jwks.keys;
    // Known keys are not asked about; an unknown one is, once the cooldown after the last time is over.
    await until(
      async () => get(bearer(await second.token()), '/me', own.url),
      ({ status }) => status === 200,
    );
    expect(await get(bearer(old), '/me', own.url)).toMatchObject({ status: 401 });
  });

  test('that cannot be had at all are a passing trouble, not the caller’s', async () => {
    await using own = await openResourceProcess(world.databaseUrl, async () => {
      throw new Error('no answer');
    });
    expect(await get(bearer(await mint.token()), '/me', own.url)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await get({}, '/me', own.url)).toMatchObject({ status: 200 });
  });
});
