import { pino } from 'pino';
import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { createTokenMint } from '../../test/token-mint.ts';
import { createVerificationKeys } from './keys.ts';

const log = pino({ level: 'silent' });
const MINUTE_MS = 60_000;

/** An authorization server that can go down, and a clock that is set by hand. */
const open = async () => {
  const mint = await createTokenMint();
  const state = { nowMs: 0, loads: 0, isOut: false, keys: [...mint.jwks.keys] as unknown[] };
  const load = async () => {
    state.loads += 1;
    if (state.isOut) throw new Error('out');
    return { keys: state.keys };
  };
  return {
    state,
    mint,
    keys: createVerificationKeys({ load, log, clock: { elapsedMs: () => state.nowMs } }),
  };
};

test('a key is read once and then cached', async () => {
  const { state, mint, keys } = await open();
  for (let each = 0; each < 3; each += 1) expect(await keys.find(mint.kid)).toBeDefined();
  expect(state.loads).toBe(1);
});

test('concurrent look-ups share one read', async () => {
  const { state, mint, keys } = await open();
  await Promise.all(Array.from({ length: 20 }, () => keys.find(mint.kid)));
  expect(state.loads).toBe(1);
});

test('an unknown key causes another read, but not for every invented one', async () => {
  const { state, mint, keys } = await open();
  await keys.find(mint.kid);
  state.nowMs += 6_000;
  for (let each = 0; each < 100; each += 1) expect(await keys.find(`made-up-${each}`)).toBeUndefined();
  expect(state.loads).toBe(2);
});

test('a new key is found at the first token that it signs', async () => {
  const { state, mint, keys } = await open();
  await keys.find(mint.kid);
  const next = await createTokenMint();
  state.keys.unshift(...next.jwks.keys);
  state.nowMs += 6_000;
  expect(await keys.find(next.kid)).toBeDefined();
});

test('keys stay cached while the authorization server is down, and for an hour at most', async () => {
  const { state, mint, keys } = await open();
  await keys.find(mint.kid);
  state.isOut = true;
  state.nowMs += 59 * MINUTE_MS;
  expect(await keys.find(mint.kid)).toBeDefined();
  state.nowMs += 2 * MINUTE_MS;
  await expect(keys.find(mint.kid)).rejects.toMatchObject({
    code: 'unavailable',
    headers: { 'Retry-After': '5' },
  });
  state.isOut = false;
  state.nowMs += 6_000;
  expect(await keys.find(mint.kid)).toBeDefined();
});

test.each([
  ['a key for encryption', { use: 'enc' }],
  ['a key of another kind', { kty: 'RSA' }],
  ['a key of another curve', { crv: 'P-384' }],
])('%s verifies nothing', async (_, change) => {
  const { state, mint, keys } = await open();
  state.keys = mint.jwks.keys.map((key) => ({ ...key, ...change }));
  expect(await keys.find(mint.kid)).toBeUndefined();
});

test.each([
  ['no JSON object', null],
  ['no keys', {}],
  ['endless keys', { keys: Array.from({ length: 51 }, () => ({ kty: 'EC' })) }],
])('an answer with %s is as good as none', async (_, answer) => {
  const keys = createVerificationKeys({ load: async () => answer, log, clock: REAL_TIME });
  await expect(keys.find('x')).rejects.toMatchObject({ code: 'unavailable' });
});
