import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { verifierKeyOf } from '../proof/tree/note.ts';
import { originOf } from '../proof/tree/tree-head.ts';
import { callAt } from '../test/engines/call-line.ts';
import { aKey, aLog, EVENTS, LOG } from '../test/proven-log.ts';

/** Neither a database nor a folder of data is there. */
const check = (...args: readonly string[]) =>
  callAt({ domain: publishing, environment: { DATA_DIR: '/nowhere' } }, ['audit', 'check', ...args]);

const signer = aKey();
const vkey = verifierKeyOf(signer.key);
const jwk = { kty: 'OKP', crv: 'Ed25519', x: signer.key.publicKey.toString('base64url') };

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('save', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-check-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return async (name: string, text: string): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, text);
      return path;
    };
  })
  .extend('proof', { scope: 'file' }, async ({ save }) => {
    const text = await aLog().prove(4, signer);
    return { text, path: await save('event.tlog-proof', text) };
  });

test('a proof is checked with a key alone', async ({ proof }) => {
  const { exit, lines } = await check(proof.path, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines).toEqual([
    `Proven: the log ${originOf(LOG)} has this event, in place 5 of ${EVENTS.length}.`,
    `article.drafted, version 1 of article-5, ${EVENTS[4]?.id}`,
    'Recorded at 2026-11-30T10:00:00.000Z by user:7, as the log says.',
    '{"title":"“Nº 4”"}',
  ]);
});

test.for([
  ['the answer of GET /audit/keys', JSON.stringify({ keys: [jwk] })],
  ['keys.jsonl', `${JSON.stringify({ id: 'one', publicKey: jwk })}\n`],
] as const)('the keys may be in %s', async ([name, text], { proof, save }) => {
  const keys = await save(`${name.replaceAll(/\W/g, '')}.json`, text);
  const { exit, output } = await check(proof.path, '--keys', keys, '--json');
  expect(exit).toBe(0);
  expect(JSON.parse(output)).toMatchObject({
    isProven: true,
    event: EVENTS[4],
    index: 4,
    checkpoint: { origin: originOf(LOG), size: EVENTS.length },
  });
});

test('a proof that is not right is refused with the reason, and another exit code than a wrong call', async ({
  proof,
  save,
}) => {
  const changed = await save('changed.tlog-proof', proof.text.replace('index 4', 'index 5'));
  const { exit, complaint } = await check(changed, '--key', vkey);
  expect(exit).toBe(1);
  expect(complaint).toContain(
    'Not proven. The log does not have this event in place 6: the event, or its proof, was changed.',
  );
});

test('without a key, nothing is proven', async ({ proof }) => {
  const { exit, complaint } = await check(proof.path);
  expect(exit).toBe(64);
  expect(complaint).toContain('a proof is worth what its key is worth: give --key or --keys');
});

test.for([
  [['--key', 'x'], '--key must be a key such as'],
  [['--keys', '/nowhere/keys.json'], '/nowhere/keys.json'],
] as const)('%j is refused', async ([args, reason], { proof }) => {
  const { exit, complaint } = await check(proof.path, ...args);
  expect(exit).toBe(64);
  expect(complaint).toContain(reason);
});

test('a file without keys is refused', async ({ proof, save }) => {
  const { exit, complaint } = await check(proof.path, '--keys', await save('none.json', '{}'));
  expect(exit).toBe(64);
  expect(complaint).toContain('has no keys');
});
