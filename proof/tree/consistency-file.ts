import { rootByConsistency } from './check-proofs.ts';
import { hashesIn } from './hashes.ts';
import { parseNote } from './note.ts';
import { type NotProven, notProven } from './proof-file.ts';
import { type CheckCosignatures, type Signatures, signaturesOn, type TrustedKey } from './signatures.ts';
import { parseTreeHead, type TreeHead } from './tree-head.ts';

/**
 * A proof that the log only grew since an older checkpoint: the body that C2SP tlog-witness sends to a witness,
 * with the size of the older tree, the hashes, and the newer checkpoint.
 */
export const writeConsistency = (former: number, hashes: readonly Buffer[], note: string): string =>
  [`old ${former}`, ...hashes.map((hash) => hash.toString('base64')), '', note].join('\n');

type ConsistencyProof = {
  readonly former: number;
  readonly hashes: readonly Buffer[];
  readonly note: string;
};

const OLD = /^old (0|[1-9]\d{0,15})$/;
const HASHES_MAX = 63;

/** A sentence if the text has not this form, or ends too early. */
export const parseConsistency = (text: string): ConsistencyProof | string => {
  const end = text.indexOf('\n\n');
  if (end < 0) return 'The request has no empty line before its checkpoint.';
  const [first = '', ...lines] = text.slice(0, end).split('\n');
  const [, old] = OLD.exec(first) ?? [];
  const former = Number(old);
  if (!Number.isSafeInteger(former)) return 'The first line of the request is not “old”, a space and a size.';
  const hashes = hashesIn(lines);
  return hashes === undefined || hashes.length > HASHES_MAX
    ? 'The proof of the request is no list of at most 63 hashes in Base64.'
    : { former, hashes, note: text.slice(end + 2) };
};

const isConsistencyProof = (text: string): boolean => text.startsWith('old ');

/** The head in a checkpoint that one of the keys has signed, or the reason why there is none. */
export const checkCheckpoint = (
  text: string,
  trusted: readonly TrustedKey[],
  cosignatures?: CheckCosignatures,
): (Signatures & { readonly isProven: true; readonly checkpoint: TreeHead }) | NotProven => {
  const note = parseNote(text);
  const checkpoint = note && parseTreeHead(note.text);
  if (note === undefined || checkpoint === undefined)
    return notProven('file', 'The file is no checkpoint, or a part of it is missing.');
  const signatures = signaturesOn(note, checkpoint, trusted, cosignatures);
  return typeof signatures === 'string'
    ? notProven('key', signatures)
    : { isProven: true, checkpoint, ...signatures };
};

export type CheckedConsistency =
  | (Signatures & {
      readonly isProven: true;
      readonly former: TreeHead;
      readonly checkpoint: TreeHead;
    })
  | NotProven;

/**
 * Checks that the log only grew since a checkpoint that somebody has kept. The text is a proof of that, or a
 * checkpoint of the same size.
 */
export const checkConsistency = (
  text: string,
  kept: string,
  trusted: readonly TrustedKey[],
  cosignatures?: CheckCosignatures,
): CheckedConsistency => {
  const proof = isConsistencyProof(text)
    ? parseConsistency(text)
    : { former: undefined, hashes: [], note: text };
  if (typeof proof === 'string')
    return notProven('file', 'The file is no proof of consistency, or a part of it is missing.');
  const older = checkCheckpoint(kept, trusted);
  if (!older.isProven) return notProven(older.failed, `The kept checkpoint: ${older.reason}`);
  const newer = checkCheckpoint(proof.note, trusted, cosignatures);
  if (!newer.isProven) return newer;
  const { checkpoint } = newer;
  const former = older.checkpoint;
  if (former.origin !== checkpoint.origin)
    return notProven(
      'events',
      `The kept checkpoint is of the log ${former.origin}, and the other one of ${checkpoint.origin}.`,
    );
  if (former.size > checkpoint.size)
    return notProven(
      'events',
      `The kept checkpoint covers ${former.size} entries, and the other one only ${checkpoint.size}: the log went back, or they were exchanged.`,
    );
  if (former.size > 0 && former.size < checkpoint.size && proof.former !== former.size)
    return notProven(
      'events',
      proof.former === undefined
        ? 'Two checkpoints alone show no more than their sizes: get the proof of consistency from the log.'
        : `The proof begins with ${proof.former} entries, and the kept checkpoint covers ${former.size}.`,
    );
  return isGrownFrom(former, checkpoint, proof.hashes)
    ? { ...newer, former }
    : notProven(
        'tree',
        `The log no longer begins with the ${former.size} entries of the kept checkpoint: its history was changed, or it is shown differently to others.`,
      );
};

/** Every tree has grown from the empty one. */
const isGrownFrom = (former: TreeHead, { size, root }: TreeHead, proof: readonly Buffer[]): boolean =>
  former.size === 0 || rootByConsistency({ former, size, proof })?.equals(root) === true;
