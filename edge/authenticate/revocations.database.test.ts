// Over 200 lines, because it is one table: each revocation, and the tokens that it ends.
import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { inTransaction } from '#shared/database/transaction.ts';
import { readSeenRevocations } from '../../test/engines/read-seen-revocations.ts';
import {
  test as base,
  bearer,
  createResourceApi,
  openResourceProcess,
  type ResourceApi,
} from '../../test/engines/resource-api.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { createTokenMint, nowS } from '../../test/token-mint.ts';
import { REFRESH_MS } from './follow-revocations.ts';
import { type RevocationKind, revoke } from './revocations.ts';

/** The tokens have the real time; the processes read revocations and keys when the test moves their clock. */
const clock = createTestClock();
const test = base.extend('openApi', { scope: 'file' }, () => () => createResourceApi(clock));

describe('a revoked', () => {
  const facts = () => ({
    jti: randomUUID(),
    grant_id: randomUUID(),
    client_id: randomUUID(),
    sub: String(randomInt(1, 1e12)),
  });
  test.for<[RevocationKind, keyof ReturnType<typeof facts>]>([
    ['jti', 'jti'],
    ['grant', 'grant_id'],
    ['client', 'client_id'],
    ['user', 'sub'],
  ])('%s ends a token that was good, within seconds', async ([kind, claim], { api, get, mint }) => {
    const claims = facts();
    const token = await mint.token(claims);
    const other = await mint.token();
    expect(await get(bearer(token))).toMatchObject({ status: 200 });
    await revoke(api.pool, kind, claims[claim]);
    const refused = await clock.advanceUntil(
      REFRESH_MS,
      () => get(bearer(token)),
      ({ status }) => status === 401,
    );
    expect(refused.challenge).toContain('error_description="The token was revoked."');
    expect(await get(bearer(other))).toMatchObject({ status: 200 });
  });

  const issue = async (api: ResourceApi, claims: ReturnType<typeof facts>, more: object = {}) => {
    const seen = await readSeenRevocations(api.pool, {
      userId: Number(claims.sub),
      clientId: claims.client_id,
    });
    return api.mint.token({ ...claims, revocations_seen: seen, ...more });
  };
  const seenWith = async (api: ResourceApi, claims: ReturnType<typeof facts>, application: string) => {
    const of = { userId: Number(claims.sub) };
    const [own, theirs] = [
      await readSeenRevocations(api.pool, { ...of, clientId: claims.client_id }),
      await readSeenRevocations(api.pool, { ...of, clientId: application }),
    ];
    return { ...own, application: theirs.client };
  };
  const refused = (api: ResourceApi, token: string) =>
    clock.advanceUntil(
      REFRESH_MS,
      () => api.get(bearer(token)),
      ({ status }) => status === 401,
    );

  test.for(['client', 'user'] as const)(
    '%s may have new tokens at once, in the same second, again and again',
    async (kind, { api, get }) => {
      const claims = facts();
      let token = await issue(api, claims);
      for (const _ of ['first', 'second']) {
        await revoke(api.pool, kind, kind === 'client' ? claims.client_id : claims.sub);
        const fresh = await issue(api, claims);
        await refused(api, token);
        expect(await get(bearer(fresh))).toMatchObject({ status: 200 });
        token = fresh;
      }
    },
  );

  test.for(['client', 'user'] as const)(
    '%s loses the tokens of an authorization server whose clock is ahead',
    async (kind, { api, get }) => {
      const claims = facts();
      const ahead = await issue(api, claims, { iat: nowS() + 4, exp: nowS() + 304 });
      expect(await get(bearer(ahead))).toMatchObject({ status: 200 });
      await revoke(api.pool, kind, kind === 'client' ? claims.client_id : claims.sub);
      await refused(api, ahead);
    },
  );

  test('application loses the tokens of its agents as well, and a newer one is good', async ({
    api,
    get,
    mint,
  }) => {
    const claims = facts();
    const application = randomUUID();
    const act = { sub: claims.client_id, act: { sub: application } };
    const seen = await seenWith(api, claims, application);
    const token = await mint.token({ ...claims, act, revocations_seen: seen });
    expect(await get(bearer(token))).toMatchObject({ status: 200 });
    await revoke(api.pool, 'client', application);
    await refused(api, token);
    const later = await seenWith(api, claims, application);
    const fresh = await mint.token({ ...claims, act, revocations_seen: later });
    expect(await get(bearer(fresh))).toMatchObject({ status: 200 });
  });

  test('user loses the tokens of the former release, which state only their time of issue', async ({
    api,
    get,
    mint,
  }) => {
    const claims = facts();
    const token = await mint.token(claims);
    await revoke(api.pool, 'user', claims.sub);
    await refused(api, token);
    expect(await get(bearer(await mint.token({ ...claims, iat: nowS() + 4 })))).toMatchObject({
      status: 200,
    });
  });

  test('user is revoked even if the clock of the database was set back', async ({ api, get, mint }) => {
    const [early, again, other] = [facts(), facts(), facts()];
    // The time before the clock was set back.
    await inTransaction(api.pool, async (connection) => {
      for (const { sub } of [early, again]) await revoke(connection, 'user', sub);
      await connection.query(
        `update auth.revoked set revoked_at = revoked_at + interval '10 minutes' where value = any ($1)`,
        [[early.sub, again.sub]],
      );
    });
    await using own = await openResourceProcess(api.databaseUrl, async () => mint.jwks, clock);
    const tokens = [await issue(api, again), await issue(api, other)];
    for (const token of tokens)
      expect(await get(bearer(token), '/me', own.url)).toMatchObject({ status: 200 });
    for (const { sub } of [again, other]) await revoke(api.pool, 'user', sub);
    for (const token of tokens)
      await clock.advanceUntil(
        REFRESH_MS,
        () => get(bearer(token), '/me', own.url),
        ({ status }) => status === 401,
      );
  });
});

test('a revocation after the clock of the database was set back is found', async ({ api, get, mint }) => {
  // As if it had been revoked before that.
  await revoke(api.pool, 'jti', 'before');
  await api.pool.query(
    `update auth.revoked set revoked_at = revoked_at + interval '1 hour', expires_at = expires_at + interval '1 hour' where value = 'before'`,
  );
  const seen = await mint.token({ jti: 'before' });
  await clock.advanceUntil(
    REFRESH_MS,
    () => get(bearer(seen)),
    ({ status }) => status === 401,
  );
  const token = await mint.token({ jti: 'after' });
  expect(await get(bearer(token))).toMatchObject({ status: 200 });
  await revoke(api.pool, 'jti', 'after');
  await clock.advanceUntil(
    REFRESH_MS,
    () => get(bearer(token)),
    ({ status }) => status === 401,
  );
});

describe('the keys', () => {
  test('that are new are found, and removed ones no longer count, even for cached tokens', async ({
    api,
    get,
  }) => {
    const [first, second] = [await createTokenMint(), await createTokenMint()];
    let keys: readonly unknown[] = first.jwks.keys;
    await using own = await openResourceProcess(api.databaseUrl, async () => ({ keys }), clock);
    const old = await first.token();
    expect(await get(bearer(old), '/me', own.url)).toMatchObject({ status: 200 });
    keys = second.jwks.keys;
    // Known keys cause no read; an unknown one does, once the cooldown is over.
    await clock.advanceUntil(
      REFRESH_MS,
      async () => get(bearer(await second.token()), '/me', own.url),
      ({ status }) => status === 200,
    );
    expect(await get(bearer(old), '/me', own.url)).toMatchObject({ status: 401 });
  });

  test('that cannot be loaded are a temporary failure, not the caller’s fault', async ({
    api,
    get,
    mint,
  }) => {
    await using own = await openResourceProcess(
      api.databaseUrl,
      async () => {
        throw new Error('no answer');
      },
      clock,
    );
    expect(await get(bearer(await mint.token()), '/me', own.url)).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    expect(await get({}, '/me', own.url)).toMatchObject({ status: 200 });
  });
});
