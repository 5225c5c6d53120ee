import { expect } from 'vitest';
import { AUDIT_OPERATIONS } from '#shared/rest/audit.ts';
import { test as base } from '../../test/engines/backend.ts';
import { until } from '../../testing/until.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { GrowingTree } from '../tree/growing-tree.ts';
import { leafHash, split } from '../tree/hashes.ts';
import { isNoteSignedBy, parseNote, parseVerifierKey } from '../tree/note.ts';
import { checkProof } from '../tree/proof-file.ts';
import { parseTreeHead } from '../tree/tree-head.ts';

/** More than a tile of events, of which one is asked for. */
const test = base
  .extend('recorded', { scope: 'file' }, async ({ admin, author, backend, write }) => {
    const article = await write(author, 'POST', '/articles', { title: 'On proofs', body: '', tags: [] });
    for (let at = 0; at < 300; at += 1)
      await write(author, 'PATCH', `/articles/${article}`, { title: `On proofs, ${at}` });
    const { body } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    const [event] = body as readonly [{ readonly id: string }];
    return event;
  })
  .extend('chained', { scope: 'file' }, async ({ backend, recorded }, { onCleanup }) => {
    const chain = await backend.startChain();
    onCleanup(() => chain[Symbol.asyncDispose]());
    const head = await backend.side.eventLog.head();
    await until(
      () => readChainEnd(backend.side.pool),
      ({ position }) => position >= head,
    );
    return recorded;
  });

const bytesOf = async (url: string): Promise<{ readonly status: number; readonly bytes: Buffer }> => {
  const response = await fetch(url);
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};

const headOf = async (url: string) => {
  const { bytes } = await bytesOf(`${url}/audit/log/checkpoint`);
  const note = parseNote(bytes.toString());
  const head = note && parseTreeHead(note.text);
  if (note === undefined || head === undefined) throw new Error('no checkpoint is served');
  return { note, head };
};

test('an administrator gets a file that proves an event with the public key alone', async ({
  admin,
  backend,
  chained,
}) => {
  const { status, body } = await backend.ask(`/events/${chained.id}/proof`, { by: admin });
  expect(status).toBe(200);
  const { proof, index, size, vkey } = AUDIT_OPERATIONS.getEventProof.answer.schema.parse(body);
  const { body: published } = await backend.ask('/audit/keys', {});
  expect(published).toMatchObject({ keys: [{ vkey }] });
  const key = parseVerifierKey(vkey);
  expect(checkProof(proof, key === undefined ? [] : [key])).toMatchObject({
    isProven: true,
    event: { id: chained.id, type: 'article.drafted', metadata: { actor: expect.stringMatching(/^user:/) } },
    index,
    checkpoint: { size },
  });
});

test('others get no proof, because it has everything that was recorded', async ({
  author,
  backend,
  chained,
}) => {
  expect(await backend.ask(`/events/${chained.id}/proof`, { by: author })).toMatchObject({ status: 403 });
  expect(await backend.ask(`/events/${chained.id}/proof`)).toMatchObject({ status: 401 });
});

test.for(['00000000-0000-7000-8000-000000000000', 'nothing'])(
  'there is no proof of the event %s',
  async (id, { admin, backend }) => {
    expect(await backend.ask(`/events/${id}/proof`, { by: admin })).toMatchObject({ status: 404 });
  },
);

test('everybody can read the tree, and compute its head from the entries', async ({ backend, chained }) => {
  expect(chained.id).toHaveLength(36);
  const { note, head } = await headOf(backend.url);
  const { body } = await backend.ask('/audit/keys', {});
  const [{ vkey }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
  const key = parseVerifierKey(vkey);
  expect(key && isNoteSignedBy(note, key)).toBe(true);
  const width = head.size - 256;
  const tree = new GrowingTree();
  for (const path of ['000', `001.p/${width}`]) {
    const [entries, leaves] = await Promise.all([
      bytesOf(`${backend.url}/audit/log/tile/entries/${path}`),
      bytesOf(`${backend.url}/audit/log/tile/0/${path}`),
    ]);
    expect([entries.status, leaves.status]).toEqual([200, 200]);
    const hashes = split(leaves.bytes);
    for (const [at, hash] of hashes.entries()) {
      const entry = entries.bytes.subarray(at * 34, (at + 1) * 34);
      expect([entry[0], entry[1]]).toEqual([0, 32]);
      expect(leafHash(entry.subarray(2))).toEqual(hash);
      tree.append(hash);
    }
  }
  expect(tree.root()).toEqual(head.root);
  const above = await bytesOf(`${backend.url}/audit/log/tile/1/000.p/1`);
  expect(above.status).toBe(200);
  expect(above.bytes).toHaveLength(32);
});

test.for([
  '0/001',
  '0/001.p/255',
  '0/000.p/256',
  '0/000.p/0',
  '0/x000/000.p/x',
  '1/000',
  '2/000.p/1',
  '64/000',
  'x/000',
  '0/0',
  '0/1000',
  'entries/999',
  '0',
])('there is no tile %s', async (path, { backend, chained }) => {
  expect(chained.id).toHaveLength(36);
  expect((await bytesOf(`${backend.url}/audit/log/tile/${path}`)).status).toBe(404);
});
