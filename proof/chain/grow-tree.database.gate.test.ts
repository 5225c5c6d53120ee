import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { until } from '../../testing/until.ts';
import { treeHeadFileIn } from '../heads/tree-head-file.ts';
import { hashOf } from '../stored/canonical.ts';
import { rotateAuditKey } from '../stored/signing-keys.ts';
import { rootByConsistency, rootByInclusion } from '../tree/check-proofs.ts';
import { GrowingTree } from '../tree/growing-tree.ts';
import { leavesOf } from '../tree/leaves.ts';
import { ownHeadIn } from '../tree/note-key.ts';
import { proofsOf } from '../tree/proofs.ts';
import { readTreeHead, tileReader } from '../tree/tiles.ts';
import { originOf } from '../tree/tree-head.ts';

const headOf = async ({ pool, masterKey }: AuditedLog) => {
  const { note = null } = (await readTreeHead(pool)) ?? {};
  const signed = await ownHeadIn({ connection: pool, masterKey }, note);
  if (signed === undefined) throw new Error('the tree has no signed head');
  return signed;
};

/** The leaves as the log has them, without the chain and its blocks. */
const leavesIn = async (audited: AuditedLog): Promise<readonly Buffer[]> => {
  const { leafOf } = leavesOf(audited.masterKey);
  return (await audited.events()).map((event, index) => leafOf(index, hashOf(event)));
};

const rootOf = (leaves: readonly Buffer[]): Buffer => {
  const tree = new GrowingTree();
  for (const leaf of leaves) tree.append(leaf);
  return tree.root();
};

describe.each(LOG_ENGINES)('the tree over a log on %s', (_name, startLog) => {
  let audited: AuditedLog;
  beforeAll(async () => {
    audited = await createAuditedLog(startLog);
  });
  afterAll(() => audited?.[Symbol.asyncDispose]());

  const expectWhole = async () => {
    await audited.untilChained();
    const leaves = await leavesIn(audited);
    const { head } = await headOf(audited);
    expect(head).toEqual({
      origin: originOf(audited.eventLog.identity),
      size: leaves.length,
      root: rootOf(leaves),
    });
    return head;
  };

  test('has every event once and in order, over restarts and during writes', async () => {
    await audited.append(20);
    {
      await using _first = await audited.startChain();
      await audited.append(250);
      await expectWhole();
    }
    await audited.append(5);
    await using _one = await audited.startChain();
    await using _other = await audited.startChain();
    await audited.append(300);
    await expectWhole();
  });

  test('is signed by the newest key', async () => {
    await using _chain = await audited.startChain();
    await rotateAuditKey(audited);
    await audited.append(1);
    await expectWhole();
  });

  test('proves each event, and that it began as each of its former heads said', async () => {
    await using _chain = await audited.startChain();
    await audited.append(1);
    const former = await expectWhole();
    await audited.append(7);
    const { size, root } = await expectWhole();
    const leaves = await leavesIn(audited);
    const proofs = proofsOf(tileReader(audited.pool, leavesOf(audited.masterKey)), size);
    for (const index of [0, 1, 255, 256, 511, size - 1]) {
      const leaf = leaves[index] as Buffer;
      expect(rootByInclusion({ leaf, index, size, proof: await proofs.inclusion(index) })).toEqual(root);
    }
    const proof = await proofs.consistency(former.size);
    expect(rootByConsistency({ former, size, proof })).toEqual(root);
  });
});

test('is signed again after a rotation, though nothing was appended', async () => {
  await using audited = await createAuditedLog();
  await audited.append(3);
  await audited.prove();
  const before = await headOf(audited);
  await rotateAuditKey(audited);
  await using _chain = await audited.startChain();
  await until(
    () => headOf(audited),
    ({ key }) => !key.publicKey.equals(before.key.publicKey),
  );
  expect((await headOf(audited)).head).toEqual(before.head);
});

test('a log from before it had a tree gets it at once, and the same one', async () => {
  await using audited = await createAuditedLog();
  await audited.append(600);
  await audited.prove();
  const before = await headOf(audited);
  await audited.tamper('truncate audit.tile');
  await audited.tamper('delete from audit.tree_head');
  await using _chain = await audited.startChain();
  await until(
    () => readTreeHead(audited.pool),
    (head) => head?.size === 600,
  );
  expect((await headOf(audited)).head).toEqual(before.head);
  await audited.append(1);
  await audited.untilChained();
  expect((await headOf(audited)).head.root).toEqual(rootOf(await leavesIn(audited)));
});

test.each([
  [
    'the hash of an event',
    'update audit.block set hashes = set_byte(hashes, 9000, get_byte(hashes, 9000) # 1) where events > 285',
  ],
  [
    'a tile',
    'update audit.tile set hashes = set_byte(hashes, 9, get_byte(hashes, 9) # 1), root = sha256(root)',
  ],
  ['the size of the head', 'update audit.tree_head set size = 295'],
  ['the signed note', `update audit.tree_head set note = null`],
])('nothing is signed after somebody has changed %s in the database', async (_, statement) => {
  await using audited = await createAuditedLog();
  await audited.append(290);
  await audited.prove();
  const before = await readTreeHead(audited.pool);
  await audited.tamper(statement);
  const tampered = await readTreeHead(audited.pool);
  await audited.append(1);
  await using _chain = await audited.startChain();
  await audited.untilChained();
  expect([before, tampered]).toContainEqual(await readTreeHead(audited.pool));
});

test('a log that has lost published events signs no other ones in their place', async () => {
  await using audited = await createAuditedLog();
  await audited.append(5);
  await audited.prove();
  const before = await headOf(audited);
  await audited.tamper('delete from event_log.event where position > 3');
  await audited.tamper('delete from audit.block');
  await audited.tamper('delete from audit.tree_head');
  await audited.tamper(`delete from public.follower_checkpoint where follower = 'chain'`);
  await audited.tamper('delete from audit.head');
  expect(before.head.size).toBe(5);
  await using _chain = await audited.startChain();
  await until(
    () => readTreeHead(audited.pool),
    (head) => head?.size === 3,
  );
  expect(await readTreeHead(audited.pool)).toEqual({ size: 3, note: null });
});

test.each([
  ['is not there', async (path: string) => rm(path)],
  ['is older', async (path: string) => writeFile(path, '')],
])('the chain goes on without its tree if the file outside %s', async (_, change) => {
  await using audited = await createAuditedLog();
  await audited.append(290);
  await audited.prove();
  await audited.tamper('update audit.tile set root = sha256(root)');
  await change(treeHeadFileIn(audited.auditDir));
  const before = await readTreeHead(audited.pool);
  await audited.append(1);
  await using _chain = await audited.startChain();
  await audited.untilChained();
  expect(await readTreeHead(audited.pool)).toEqual(before);
});

test('an unreadable file outside stops neither the chain nor the process', async () => {
  await using audited = await createAuditedLog();
  await audited.append(3);
  await audited.prove();
  const path = treeHeadFileIn(audited.auditDir);
  await rm(path);
  await mkdir(path);
  await audited.append(1);
  await using _chain = await audited.startChain();
  await audited.untilChained();
  expect(await readTreeHead(audited.pool)).toMatchObject({ size: 3 });
});

test('a rotation while the chain is built again does not stop the tree', async () => {
  await using audited = await createAuditedLog();
  await audited.append(5);
  await audited.prove();
  await rotateAuditKey(audited);
  await audited.tamper('delete from audit.block');
  await audited.tamper(`delete from public.follower_checkpoint where follower = 'chain'`);
  await using _chain = await audited.startChain();
  await audited.untilChained();
  await audited.append(1);
  await audited.untilChained();
  await audited.append(1);
  await until(
    () => readTreeHead(audited.pool),
    (head) => head?.size === 7,
  );
  expect((await headOf(audited)).head.root).toEqual(rootOf(await leavesIn(audited)));
});
