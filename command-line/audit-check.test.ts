import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { writeConsistency } from '../proof/tree/consistency-file.ts';
import { keyIdOf, verifierKeyOf } from '../proof/tree/note.ts';
import { originOf } from '../proof/tree/tree-head.ts';
import { callAt } from '../test/engines/call-line.ts';
import { aKey, aLog, EVENTS, ITEM, LOG, LOG_OF_ITEM } from '../test/proven-log.ts';
import { serveRoutes } from '../test/serve.ts';

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

test('the proof of an item says what it shows in one sentence, and what each event recorded', async ({
  save,
}) => {
  const path = await save('item.jsonl', (await aLog(LOG_OF_ITEM).proveItem(ITEM, signer)).join(''));
  const { exit, lines } = await check(path, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines[0]).toBe(
    `Proven: article-77: 4 events, versions 1 to 4, in the log ${originOf(LOG)} as of entry 15, signed by the key ${keyIdOf(signer.key).toString('hex')}.`,
  );
  expect(lines[2]).toMatch(
    /^2\. article\.edited, .*, at 2026-11-30T10:01:00.000Z by user:7: \{"title":"Nº 2"\}$/,
  );
  expect(lines.slice(5)).toEqual([
    'Last recorded, by name:',
    'tags: ["x"] (version 1)',
    'title: "Nº 4" (version 4)',
    'It does not show that version 4 is the newest.',
  ]);
});

const younger = LOG_OF_ITEM.slice(0, 6);
const kept = aLog(younger).noteOf(signer);
const grown = aLog(LOG_OF_ITEM);
const consistent = async (from = younger.length): Promise<string> =>
  writeConsistency(from, await grown.consistencyFrom(from), grown.noteOf(signer));

test('a log is shown to have only grown since a kept checkpoint', async ({ save }) => {
  const since = await save('kept.checkpoint', kept);
  const { exit, lines } = await check(
    await save('grown', await consistent()),
    '--since',
    since,
    '--key',
    vkey,
  );
  expect(exit).toBe(0);
  expect(lines[0]).toContain(`the log ${originOf(LOG)} only grew from entry 6 to entry 15: it still begins`);
  const { exit: same } = await check(since, '--since', since, '--key', vkey);
  expect(same).toBe(0);
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

test('the log is asked by its address for the proof since a kept checkpoint', async ({ save }) => {
  const asked: string[] = [];
  await using log = await serveRoutes(async ({ url }: Request, response: Response) => {
    asked.push(url);
    response.send(url.includes('consistency') ? await consistent() : grown.noteOf(signer));
  });
  const { url } = log;
  const since = await save('kept-for-address', kept);
  const { exit, lines } = await check(`${url}/audit/log/`, '--since', since, '--key', vkey);
  expect(exit).toBe(0);
  expect(lines[0]).toContain('only grew from entry 6 to entry 15');
  expect(asked).toEqual(['/audit/log/checkpoint', '/audit/log/consistency?from=6']);
});

test('an address without a kept checkpoint, and one that does not answer, are refused', async ({ save }) => {
  const alone = await check('http://127.0.0.1:9/audit/log', '--key', vkey);
  expect([alone.exit, alone.complaint]).toEqual([64, expect.stringContaining('only asked with --since')]);
  const silent = await check(
    'http://127.0.0.1:9/audit/log',
    ...['--since', await save('kept-for-nobody', kept), '--key', vkey],
  );
  expect([silent.exit, silent.complaint]).toEqual([64, expect.stringContaining('does not answer')]);
});
