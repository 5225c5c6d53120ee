import type { CosignatureAlgorithm } from './cosignature.ts';
import { isNoteSignedBy, keyIdOf, type Note, type NoteKey } from './note.ts';
import type { TreeHead } from './tree-head.ts';

/** Keys without a name are taken for those of the log that the proof names. */
export type TrustedKey = Pick<NoteKey, 'publicKey'> & Partial<Pick<NoteKey, 'name'>>;

/** A witness has seen the head, and that it has grown from the one before, at this time. */
type Cosigned = {
  /** Its name in the policy, and in its key. */
  readonly name: string;
  readonly key: string;
  readonly algorithm: CosignatureAlgorithm;
  readonly at: string;
};

export type Witnessed = {
  readonly cosigned: readonly Cosigned[];
  /** When enough of them had seen the head: it existed at the latest then. Null if the policy demands none. */
  readonly by: string | null;
};

/** Checks the witnesses that have signed too; a sentence if they are not enough. */
export type CheckCosignatures = (note: Note, logKey: NoteKey) => Witnessed | string;

/** Of a checkpoint. */
export type Signatures = {
  readonly key: NoteKey;
  /** If witnesses were asked for. */
  readonly witnessed?: Witnessed;
  /** The names of others who have signed it, if nobody asked for witnesses. */
  readonly foreign: readonly string[];
};

/** The signatures of a checkpoint, or the reason why they do not count. */
export const signaturesOn = (
  note: Note,
  head: TreeHead,
  trusted: readonly TrustedKey[],
  check?: CheckCosignatures,
): Signatures | string => {
  const key = signedBy(note, head, trusted);
  if (typeof key === 'string') return key;
  const witnessed = check?.(note, key);
  if (typeof witnessed === 'string') return witnessed;
  const others = note.signatures.flatMap(({ name, id }) =>
    name === key.name && id.equals(keyIdOf(key)) ? [] : [name],
  );
  return witnessed === undefined ? { key, foreign: [...new Set(others)] } : { key, witnessed, foreign: [] };
};

/** The key that has signed the checkpoint, or the reason why none has. */
const signedBy = (note: Note, { origin }: TreeHead, trusted: readonly TrustedKey[]): NoteKey | string => {
  const keys = trusted.map(({ name = origin, publicKey }) => ({ name, publicKey }));
  const key = keys.find((each) => hasLineOf(note, each));
  if (key === undefined)
    return keys.some(({ name }) => name === origin)
      ? `The checkpoint of the proof is signed by none of the given keys.`
      : `The proof is of the log ${origin}, and the given keys are of ${keys.map(({ name }) => name).join(', ')}.`;
  return isNoteSignedBy(note, key) && key.name === origin
    ? key
    : 'The signature of the checkpoint is wrong: the checkpoint was changed after it was signed.';
};

const hasLineOf = ({ signatures }: Note, key: NoteKey): boolean =>
  signatures.some(({ name, id }) => name === key.name && id.equals(keyIdOf(key)));
