import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { EventId, LogIdentity, StreamName, Version } from '#kernel/base/brands.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { canonicalForm, hashOf } from '../proof/stored/canonical.ts';
import { GrowingTree } from '../proof/tree/growing-tree.ts';
import { itemProofLines } from '../proof/tree/item-file.ts';
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

/** An item whose events are among those of others. */
export const ITEM = 'article-77' as StreamName;
const changesOf = (versions: number) =>
  Array.from({ length: versions }, (_, at) => ({
    stream: ITEM,
    version: (at + 1) as Version,
    id: randomUUID() as EventId,
    type: at === 0 ? 'article.drafted' : 'article.edited',
    metadata: { at: `2026-11-30T10:0${at}:00.000Z`, actor: 'user:7' },
    data: at === 0 ? { title: 'One', tags: ['x'] } : { title: `Nº ${at + 1}` },
  }));
export const VERSIONS = changesOf(4);
export const LOG_OF_ITEM = EVENTS.flatMap((event, at) => [event, ...VERSIONS.slice(at, at + 1)]);

const MASTER_KEY = parseMasterKey(randomBytes(32).toString('base64'));

/** A log of a few events, which fill no tile. */
export const aLog = (all: readonly (typeof EVENTS)[number][] = EVENTS) => {
  const leaves = leavesOf(MASTER_KEY);
  const tree = new GrowingTree();
  const hashes = all.map((event, index) => leaves.leafOf(index, hashOf(event)));
  for (const hash of hashes) tree.append(hash);
  const proofs = proofsOf(async () => Buffer.concat(hashes), all.length);
  const noteOf = (signer: ReturnType<typeof aKey>): string => {
    const text = writeTreeHead({ origin: signer.key.name, size: tree.size, root: tree.root() });
    return writeNote(text, signer.key, signer.sign(text));
  };
  const saltOf = (index: number) => leaves.saltOf(index, hashOf(all[index] as (typeof all)[number]));
  return {
    noteOf,
    consistencyFrom: (former: number) => proofs.consistency(former),
    /** The lines of the proof of an item. */
    async proveItem(stream: StreamName, signer: ReturnType<typeof aKey>): Promise<readonly string[]> {
      const found = all.flatMap((event, index) => (event.stream === stream ? [{ event, index }] : []));
      const hashes = await Array.fromAsync(proofs.inclusions(found.map(({ index }) => index)));
      return [
        itemProofLines.first(stream),
        ...found.map(({ event, index }) =>
          itemProofLines.event({ index, salt: saltOf(index), event: canonicalForm(event) }),
        ),
        itemProofLines.hashes(hashes),
        itemProofLines.last(noteOf(signer)),
      ];
    },
    async prove(index: number, signer: ReturnType<typeof aKey>): Promise<string> {
      const [event] = all.slice(index);
      if (event === undefined) throw new Error(`there is no event ${index}`);
      return writeProof({
        event: canonicalForm(event),
        salt: saltOf(index),
        index,
        hashes: await proofs.inclusion(index),
        note: noteOf(signer),
      });
    },
  };
};
