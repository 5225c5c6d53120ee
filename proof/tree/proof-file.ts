import { hashOfCanonical } from '../stored/chain.ts';
import { rootByInclusion } from './check-proofs.ts';
import { hashesIn, hashIn, leafHash, saltedEntry } from './hashes.ts';
import { parseNote } from './note.ts';
import { parseObject, parseRecorded, type RecordedInProof } from './recorded-in-proof.ts';
import { type CheckCosignatures, type Signatures, signaturesOn, type TrustedKey } from './signatures.ts';
import { parseTreeHead, type TreeHead } from './tree-head.ts';

/** A proof that an event is in the log, as one file that needs nothing else (C2SP tlog-proof). */
export type EventProof = {
  /** The canonical form of the event, as it was recorded. */
  readonly event: string;
  readonly salt: Buffer;
  readonly index: number;
  readonly hashes: readonly Buffer[];
  /** The signed checkpoint. */
  readonly note: string;
  /** A time stamp over the checkpoint, with its signatures (RFC 3161). */
  readonly timestamp?: Buffer;
};

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';

export const writeProof = ({ event, salt, index, hashes, note, timestamp }: EventProof): string =>
  [
    FIRST_LINE,
    `extra ${Buffer.from(JSON.stringify({ event, salt: salt.toString('base64'), timestamp: timestamp?.toString('base64') })).toString('base64')}`,
    `index ${index}`,
    ...hashes.map((hash) => hash.toString('base64')),
    '',
    note,
  ].join('\n');

const HEAD = /^extra (?<extra>[A-Za-z0-9+/]+=*)\nindex (?<index>0|[1-9]\d{0,15})$/;
/** A tree of more leaves than this is high has more than any log. */
const HASHES_MAX = 64;

/** Undefined if the text has not this form, or ends too early. */
const parseProof = (text: string): EventProof | undefined => {
  const end = text.indexOf('\n\n');
  if (end < 0 || !text.startsWith(`${FIRST_LINE}\n`)) return undefined;
  const [extra = '', index = '', ...lines] = text.slice(FIRST_LINE.length + 1, end).split('\n');
  const { groups } = HEAD.exec(`${extra}\n${index}`) ?? {};
  const read = readExtra(groups?.extra ?? '');
  const hashes = hashesIn(lines);
  if (read === undefined || hashes === undefined || hashes.length > HASHES_MAX) return undefined;
  return {
    ...{ event: read.event, salt: read.salt, hashes },
    index: Number(groups?.index),
    note: text.slice(end + 2),
    ...(read.timestamp !== undefined && { timestamp: Buffer.from(read.timestamp, 'base64') }),
  };
};

type Extra = { readonly event: string; readonly salt: Buffer; readonly timestamp?: string };

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const readExtra = (encoded: string): Extra | undefined => {
  const {
    event,
    salt: sealed,
    timestamp,
    ...others
  } = parseObject(Buffer.from(encoded, 'base64').toString()) ?? {};
  const salt = hashIn(sealed);
  if (typeof event !== 'string' || salt === undefined) return undefined;
  if (Object.keys(others).length > 0) return undefined;
  if (timestamp === undefined) return { event, salt };
  return typeof timestamp === 'string' && BASE64.test(timestamp) ? { event, salt, timestamp } : undefined;
};

export type Checked =
  | (Signatures & {
      readonly isProven: true;
      readonly event: RecordedInProof;
      readonly index: number;
      readonly checkpoint: TreeHead;
      /** Its note and time stamp, which is checked apart. */
      readonly file: Pick<EventProof, 'note' | 'timestamp'>;
    })
  | NotProven;

/** The steps of a check, in order; the first one that fails ends it. */
export type Step = 'file' | 'key' | 'events' | 'tree';

export type NotProven = { readonly isProven: false; readonly failed: Step; readonly reason: string };

/**
 * Checks a proof with nothing but the keys that one trusts, and its witnesses if one has a policy about them: no
 * log, no database, no network.
 */
export const checkProof = (
  text: string,
  trusted: readonly TrustedKey[],
  cosignatures?: CheckCosignatures,
): Checked => {
  const proof = parseProof(text);
  const note = proof && parseNote(proof.note);
  const checkpoint = note && parseTreeHead(note.text);
  if (proof === undefined || note === undefined || checkpoint === undefined)
    return notProven('file', 'The file is no proof of an event, or a part of it is missing.');
  const signatures = signaturesOn(note, checkpoint, trusted, cosignatures);
  if (typeof signatures === 'string') return notProven('key', signatures);
  const event = parseRecorded(proof.event);
  if (event === undefined) return notProven('events', 'The file has no event of Annals.');
  const { index, hashes } = proof;
  const { size, root } = checkpoint;
  const entry = saltedEntry(proof.salt, hashOfCanonical(proof.event));
  const found = rootByInclusion({ leaf: leafHash(entry), index, size, proof: hashes });
  if (found === undefined || !found.equals(root))
    return notProven(
      'tree',
      `The log does not have this event in place ${index + 1}: the event, or its proof, was changed.`,
    );
  return { isProven: true, event, index, checkpoint, ...signatures, file: proof };
};

export const notProven = (failed: Step, reason: string): NotProven => ({ isProven: false, failed, reason });
