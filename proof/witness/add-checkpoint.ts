import { rootByConsistency } from '../tree/check-proofs.ts';
import { parseConsistency } from '../tree/consistency-file.ts';
import { isLogSignedBy, parseWitnessKey, witnessKeyIdOf } from '../tree/cosignature.ts';
import { EMPTY_ROOT } from '../tree/hashes.ts';
import {
  isNoteSignedBy,
  keyIdOf,
  type Note,
  parseNote,
  parseVerifierKey,
  writeSignature,
} from '../tree/note.ts';
import { parseTreeHead, type TreeHead } from '../tree/tree-head.ts';
import type { KnownHead, WitnessStore } from './store.ts';
import type { Cosigner } from './witness-keys.ts';

/** `POST /add-checkpoint` of C2SP tlog-witness. It is synchronous, so requests of one process do not mix. */

export type Answer = { readonly status: number; readonly body: string; readonly type?: string };

type Witness = {
  readonly store: WitnessStore;
  readonly cosigners: readonly Cosigner[];
  nowMs(): number;
};

export const addCheckpoint = ({ store, cosigners, nowMs }: Witness, body: Buffer): Answer => {
  const asked = parseRequest(body);
  if (typeof asked === 'string') return refused(400, asked);
  const { old, proof, note, head } = asked;
  const log = store.find(head.origin);
  if (log === undefined || log.keys.length === 0) return refused(404, 'This witness does not know the log.');
  const signatures = signaturesOf(note, log.keys);
  if (signatures === undefined)
    return refused(403, 'No key that this witness knows of the log has signed the checkpoint.');
  if (old > head.size) return refused(400, 'The old size is greater than the size of the checkpoint.');
  if (old !== log.head.size) return conflict(log.head);
  if (old > 0 && old === head.size && !log.head.root.equals(head.root))
    return refused(409, 'This witness has cosigned a head of the same size with another root.');
  const wrong = inconsistencyOf(log.head, head, proof);
  if (wrong !== undefined) return refused(422, wrong);
  const lines = cosigners
    .map((each) => each.cosign(note.text, Math.floor(nowMs() / 1_000)))
    .filter((line) => line !== undefined);
  const next = { ...head, note: `${note.text}\n${signatures}${lines.join('')}` };
  if (!store.advance(head.origin, log.head, next)) return conflict(store.find(head.origin)?.head ?? log.head);
  return { status: 200, body: lines.join('') };
};

const refused = (status: number, sentence: string): Answer => ({ status, body: `${sentence}\n` });

const conflict = ({ size }: KnownHead): Answer => ({
  status: 409,
  body: `${size}\n`,
  type: 'text/x.tlog.size',
});

type Request = {
  readonly old: number;
  readonly proof: readonly Buffer[];
  readonly note: Note;
  readonly head: TreeHead;
};

/** A sentence if it is no request. */
const parseRequest = (body: Buffer): Request | string => {
  const asked = parseConsistency(textOf(body) ?? '');
  if (typeof asked === 'string') return asked;
  const note = parseNote(asked.note);
  const head = note && parseTreeHead(note.text);
  if (note === undefined || head === undefined) return 'The request has no signed checkpoint.';
  return { old: asked.former, proof: asked.hashes, note, head };
};

const textOf = (body: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
};

/** The lines of keys that are known; undefined if there is none, or if one of them is wrong. */
const signaturesOf = (note: Note, keys: readonly string[]): string | undefined => {
  const found = keys.map((text) => signatureOf(note, text)).filter((each) => each !== 'absent');
  return found.length === 0 || found.includes('wrong') ? undefined : found.join('');
};

/** A log signs by an Ed25519 key, or as cosigners do. */
const signatureOf = (note: Note, text: string): string => {
  const plain = parseVerifierKey(text);
  if (plain !== undefined) {
    const lines = linesOf(note, plain.name, keyIdOf(plain));
    return lines === '' ? 'absent' : isNoteSignedBy(note, plain) ? lines : 'wrong';
  }
  const key = parseWitnessKey(text);
  if (key === undefined) return 'absent';
  const lines = linesOf(note, key.name, witnessKeyIdOf(key));
  return lines === '' ? 'absent' : isLogSignedBy(note, key) ? lines : 'wrong';
};

const linesOf = ({ signatures }: Note, name: string, id: Buffer): string =>
  signatures
    .filter((each) => each.name === name && each.id.equals(id))
    .map((each) => writeSignature(name, each.id, each.bytes))
    .join('');

/** The reason why a head does not follow from the known one. */
const inconsistencyOf = (known: KnownHead, head: TreeHead, proof: readonly Buffer[]): string | undefined => {
  if (head.size === 0 && !head.root.equals(EMPTY_ROOT)) return 'An empty tree has another root.';
  if (known.size === 0)
    return proof.length > 0 ? 'The proof is not empty, although the old size is 0.' : undefined;
  const root = rootByConsistency({ former: known, size: head.size, proof });
  return root?.equals(head.root) === true
    ? undefined
    : 'The proof does not show that the tree has grown from the one that this witness has cosigned.';
};
