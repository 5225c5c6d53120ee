import { HASH_BYTES } from '../proof/stored/chain.ts';
import { GrowingTree } from '../proof/tree/growing-tree.ts';
import { leafHash } from '../proof/tree/hashes.ts';
import { verifierKeyOf, writeNote } from '../proof/tree/note.ts';
import { proofsOf } from '../proof/tree/proofs.ts';
import { writeTreeHead } from '../proof/tree/tree-head.ts';
import { aKey } from './proven-log.ts';

/** More leaves would fill a tile. */
const LEAVES_MAX = 255;

/** A log as witnesses see it; with another `history` and the same signer, it is one that has forked. */
export const aWitnessedLog = (signer = aKey(), history = 'one') => {
  const leaves = Array.from({ length: LEAVES_MAX }, (_, at) =>
    leafHash(Buffer.from(at < 3 ? `${at}` : `${history} ${at}`)),
  );
  const noteAt = (size: number): string => {
    const tree = new GrowingTree();
    for (const leaf of leaves.slice(0, size)) tree.append(leaf);
    const text = writeTreeHead({ origin: signer.key.name, size, root: tree.root() });
    return writeNote(text, signer.key, signer.sign(text));
  };
  const proof = async (old: number, size: number): Promise<readonly string[]> => {
    if (old === 0 || old > size) return [];
    const read = async (_level: number, _index: number, width: number) =>
      Buffer.concat(leaves).subarray(0, width * HASH_BYTES);
    const hashes = await proofsOf(read, size).consistency(old);
    return hashes.map((hash) => hash.toString('base64'));
  };
  return {
    signer,
    origin: signer.key.name,
    vkey: verifierKeyOf(signer.key),
    noteAt,
    /** The body of `POST /add-checkpoint`. */
    async request(old: number, size: number): Promise<string> {
      return [`old ${old}`, ...(await proof(old, size)), '', noteAt(size)].join('\n');
    },
  };
};
