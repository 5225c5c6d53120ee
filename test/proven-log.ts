import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { EventId, LogIdentity, StreamName, Version } from '#kernel/base/brands.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { canonicalForm, hashOf } from '../proof/stored/canonical.ts';
import { GrowingTree } from '../proof/tree/growing-tree.ts';
import { leavesOf } from '../proof/tree/leaves.ts';
import { writeNote } from '../proof/tree/note.ts';
import { noteKeyOf } from '../proof/tree/note-key.ts';
import { writeProof } from '../proof/tree/proof-file.ts';
import { proofsOf } from '../proof/tree/proofs.ts';
import { writeTreeHead } from '../proof/tree/tree-head.ts';

export const LOG = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;
export const OTHER_LOG = '7a9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;

export const aKey = (log: LogIdentity = LOG) => {
  const pair = generateKeyPairSync('ed25519');
  const { x = '' } = pair.publicKey.export({ format: 'jwk' });
  const key = noteKeyOf({ kty: 'OKP', crv: 'Ed25519', x }, log);
  return { key, sign: (text: string) => sign(null, Buffer.from(text), pair.privateKey) };
};

export const EVENTS = Array.from({ length: 11 }, (_, at) => ({
  stream: `article-${at + 1}` as StreamName,
  version: 1 as Version,
  id: randomUUID() as EventId,
  type: 'article.drafted',
  metadata: { at: '2026-11-30T10:00:00.000Z', actor: 'user:7' },
  data: { title: `“Nº ${at}”` },
}));

/** A log of a few events, which fill no tile. */
export const aLog = () => {
  const leaves = leavesOf(parseMasterKey(randomBytes(32).toString('base64')));
  const tree = new GrowingTree();
  const hashes = EVENTS.map((event, index) => leaves.leafOf(index, hashOf(event)));
  for (const hash of hashes) tree.append(hash);
  const proofs = proofsOf(async () => Buffer.concat(hashes), EVENTS.length);
  return {
    async prove(index: number, signer: ReturnType<typeof aKey>): Promise<string> {
      const [event] = EVENTS.slice(index);
      if (event === undefined) throw new Error(`there is no event ${index}`);
      const text = writeTreeHead({ origin: signer.key.name, size: tree.size, root: tree.root() });
      return writeProof({
        event: canonicalForm(event),
        salt: leaves.saltOf(index, hashOf(event)),
        index,
        hashes: await proofs.inclusion(index),
        note: writeNote(text, signer.key, signer.sign(text)),
      });
    },
  };
};
