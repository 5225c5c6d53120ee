import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { until } from '../../testing/until.ts';
import { hashOf } from '../stored/canonical.ts';
import { rotateAuditKey } from '../stored/signing-keys.ts';
import { rootByConsistency, rootByInclusion } from '../tree/check-proofs.ts';
import { originOf, parseCheckpoint } from '../tree/checkpoint.ts';
import { GrowingTree } from '../tree/growing-tree.ts';
import { leavesOf } from '../tree/leaves.ts';
import { isNoteSignedBy, parseNote } from '../tree/note.ts';
import { proofsOf } from '../tree/proofs.ts';
import { readCheckpointNote, tileReader } from '../tree/tiles.ts';
import { noteKeyIn } from './note-key.ts';

const headOf = async ({ pool }: AuditedLog) => {
  const note = parseNote((await readCheckpointNote(pool))?.note ?? '');
  const head = note && parseCheckpoint(note.text);
  if (note === undefined || head === undefined) throw new Error('there is no checkpoint');
  return { note, head };
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
    const { note, head } = await headOf(audited);
    expect(head).toEqual({
      origin: originOf(audited.eventLog.identity),
      size: leaves.length,
      root: rootOf(leaves),
    });
    expect(isNoteSignedBy(note, await noteKeyIn(audited.pool, audited.eventLog.identity))).toBe(true);
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

test('a log from before it had a tree gets it at once, and the same one', async () => {
  await using audited = await createAuditedLog();
  await audited.append(600);
  await audited.prove();
  const before = await headOf(audited);
  await audited.tamper('truncate audit.tile');
  await audited.pool.query('delete from audit.checkpoint');
  await using _chain = await audited.startChain();
  await until(
    () => readCheckpointNote(audited.pool),
    (checkpoint) => checkpoint !== undefined,
  );
  expect((await headOf(audited)).head).toEqual(before.head);
  await audited.append(1);
  await audited.untilChained();
  expect((await headOf(audited)).head.root).toEqual(rootOf(await leavesIn(audited)));
});
