import { hashOf } from '../../proof/stored/canonical.ts';
import { GrowingTree } from '../../proof/tree/growing-tree.ts';
import { leavesOf } from '../../proof/tree/leaves.ts';
import { ownHeadIn } from '../../proof/tree/note-key.ts';
import { readTreeHead } from '../../proof/tree/tiles.ts';
import type { AuditedLog } from './audited-log.ts';

/** The newest head, signed by a key of the log. */
export const headOf = async ({ pool, masterKey }: AuditedLog) => {
  const { note = null } = (await readTreeHead(pool)) ?? {};
  const signed = await ownHeadIn({ connection: pool, masterKey }, note);
  if (signed === undefined) throw new Error('the tree has no signed head');
  return signed;
};

/** The leaves as the log has them, without the chain and its blocks. */
export const leavesIn = async (audited: AuditedLog): Promise<readonly Buffer[]> => {
  const { leafOf } = leavesOf(audited.masterKey);
  return (await audited.events()).map((event, index) => leafOf(index, hashOf(event)));
};

export const rootOf = (leaves: readonly Buffer[]): Buffer => {
  const tree = new GrowingTree();
  for (const leaf of leaves) tree.append(leaf);
  return tree.root();
};
