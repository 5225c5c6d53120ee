import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createAuditedLog } from '../../test/engines/audited-log.ts';
import { headOf, leavesIn, rootOf } from '../../test/engines/tree-of-log.ts';
import { until } from '../../testing/until.ts';
import { treeHeadFileIn } from '../heads/tree-head-file.ts';
import { rotateAuditKey } from '../stored/signing-keys.ts';
import { readTreeHead } from '../tree/tiles.ts';

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
