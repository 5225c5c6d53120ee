import { expect } from 'vitest';
import { test as base, openBackend } from '../../test/engines/backend.ts';
import { until } from '../../testing/until.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { checkConsistency } from '../tree/consistency-file.ts';
import { EMPTY_ROOT } from '../tree/hashes.ts';
import { isNoteSignedBy, parseNote, parseVerifierKey } from '../tree/note.ts';
import { parseTreeHead } from '../tree/tree-head.ts';

const keyOf = async ({ ask }: Pick<Awaited<ReturnType<typeof openBackend>>, 'ask'>) => {
  const { body } = await ask('/audit/keys', {});
  const [{ vkey }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
  const key = parseVerifierKey(vkey);
  if (key === undefined) throw new Error(`${vkey} is no key`);
  return key;
};

/** A log whose tree has grown in two steps, with the checkpoints after each. */
const test = base.extend('grown', { scope: 'file' }, async ({ author, backend, write }, { onCleanup }) => {
  const chain = await backend.startChain();
  onCleanup(() => chain[Symbol.asyncDispose]());
  const checkpoint = async () => {
    const head = await backend.side.eventLog.head();
    await until(
      () => readChainEnd(backend.side.pool),
      ({ position }) => position >= head,
    );
    return (await fetch(`${backend.url}/audit/log/checkpoint`)).text();
  };
  const draft = { title: 'On trees', body: '', tags: [] };
  for (let at = 0; at < 3; at += 1) await write(author, 'POST', '/articles', draft);
  const older = await checkpoint();
  for (let at = 0; at < 300; at += 1) await write(author, 'POST', '/articles', draft);
  return { older, newer: await checkpoint(), key: await keyOf(backend) };
});

const sizeIn = (note: string): number => parseTreeHead(parseNote(note)?.text ?? '')?.size ?? -1;

test('everybody gets a proof that the log only grew since a checkpoint', async ({ backend, grown }) => {
  const { older, newer, key } = grown;
  const answer = await fetch(`${backend.url}/audit/log/consistency?from=${sizeIn(older)}`);
  expect(answer.status).toBe(200);
  const proof = await answer.text();
  expect(checkConsistency(proof, older, [key])).toMatchObject({
    isProven: true,
    former: { size: sizeIn(older) },
    checkpoint: { size: sizeIn(newer) },
  });
});

test('a proof between two former sizes has the hashes alone', async ({ backend, grown }) => {
  const { older, newer, key } = grown;
  const [from, to] = [sizeIn(older), sizeIn(newer) - 1];
  const short = await (await fetch(`${backend.url}/audit/log/consistency?from=${from}&to=${to}`)).text();
  expect(short).toMatch(/^old \d+\n([\w+/]{43}=\n)+\n$/);
  const whole = await (await fetch(`${backend.url}/audit/log/consistency?from=${from}&to=${to + 1}`)).text();
  expect(checkConsistency(whole, older, [key]).isProven).toBe(true);
});

test.for([
  ['', 400],
  ['?from=-1', 400],
  ['?from=x', 400],
  ['?from=999999', 400],
  ['?from=5&to=4', 400],
  ['?from=1&to=999999', 400],
  ['?from=1&limit=2', 400],
  ['?from=0', 200],
] as const)('the consistency of %j is answered with %i', async ([query, status], { backend, grown }) => {
  expect(grown.key.name).toMatch(/^annals\//);
  expect((await fetch(`${backend.url}/audit/log/consistency${query}`)).status).toBe(status);
});

test('pages of all origins may read the tree', async ({ backend, grown }) => {
  expect(grown.key.name).toMatch(/^annals\//);
  for (const path of ['checkpoint', 'consistency?from=1', 'tile/0/000']) {
    const { headers, status } = await fetch(`${backend.url}/audit/log/${path}`);
    expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 200, '*']);
  }
});

test('caches keep a tile for a minute, and then ask by the name of the log', async ({ backend, grown }) => {
  const url = `${backend.url}/audit/log/tile/0/000`;
  const { headers } = await fetch(url);
  const tag = headers.get('etag') ?? '';
  expect(headers.get('cache-control')).toBe('public, max-age=60');
  expect(tag).toBe(`"${grown.key.name.slice('annals/'.length)}/0/000"`);
  expect((await fetch(url, { headers: { 'If-None-Match': tag } })).status).toBe(304);
  expect((await fetch(url, { headers: { 'If-None-Match': '"another/0/000"' } })).status).toBe(200);
});

test('a log without a tree has a checkpoint of the empty one', async () => {
  await using backend = await openBackend();
  const answer = await fetch(`${backend.url}/audit/log/checkpoint`);
  const note = parseNote(await answer.text());
  expect(note && isNoteSignedBy(note, await keyOf(backend))).toBe(true);
  expect(parseTreeHead(note?.text ?? '')).toMatchObject({ size: 0, root: EMPTY_ROOT });
  const { status } = await fetch(`${backend.url}/audit/log/consistency?from=0`);
  expect(status).toBe(200);
});

test('with AUDIT_TREE=private, only administrators read the tree', async () => {
  await using backend = await openBackend({ AUDIT_TREE: 'private' });
  const url = `${backend.url}/audit/log/checkpoint`;
  const by = async (asker: Parameters<typeof backend.authorization>[0]) => {
    const { status, headers } = await fetch(url, { headers: await backend.authorization(asker) });
    return [status, headers.get('access-control-allow-origin')];
  };
  expect(await by(null)).toEqual([401, null]);
  expect(await by(await backend.person('author'))).toEqual([403, null]);
  expect(await by(await backend.person('admin'))).toEqual([200, null]);
});
