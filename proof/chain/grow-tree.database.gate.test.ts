import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { headOf, leavesIn, rootOf } from '../../test/engines/tree-of-log.ts';
import { until } from '../../testing/until.ts';
import { rotateAuditKey } from '../stored/signing-keys.ts';
import { rootByConsistency, rootByInclusion } from '../tree/check-proofs.ts';
import { leavesOf } from '../tree/leaves.ts';
import { proofsOf } from '../tree/proofs.ts';
import { readTreeHead, tileReader } from '../tree/tiles.ts';
import { originOf } from '../tree/tree-head.ts';

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
