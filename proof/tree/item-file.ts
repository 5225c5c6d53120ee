import { hashOfCanonical } from '../stored/chain.ts';
import { rootByInclusions } from './check-proofs.ts';
import { hashesIn, hashIn, leafHash, saltedEntry } from './hashes.ts';
import { parseNote } from './note.ts';
import { type NotProven, notProven } from './proof-file.ts';
import { parseObject, parseRecorded, type RecordedInProof } from './recorded-in-proof.ts';
import { type CheckCosignatures, type Signatures, signaturesOn, type TrustedKey } from './signatures.ts';
import { parseTreeHead, type TreeHead } from './tree-head.ts';

/**
 * A proof of all events of one item, as a file that needs nothing else. Each line is a JSON object: the stream,
 * the events in order, the hashes that lead from them to the root, and the signed checkpoint. The last line ends
 * the file, so that a cut one is noticed.
 */
const FORMAT = 'annals/item-proof@v1';

type EventLine = { readonly index: number; readonly salt: Buffer; readonly event: string };

export const itemProofLines = {
  first: (stream: string): string => line({ format: FORMAT, stream }),
  /** The event is in its canonical form, as it was recorded. */
  event: ({ index, salt, event }: EventLine): string => line({ index, salt: salt.toString('base64'), event }),
  hashes: (hashes: readonly Buffer[]): string =>
    line({ hashes: hashes.map((hash) => hash.toString('base64')) }),
  last: (checkpoint: string): string => line({ checkpoint }),
};

const line = (value: object): string => `${JSON.stringify(value)}\n`;

export const HASHES_PER_LINE = 500;

type ItemProof = {
  readonly stream: string;
  readonly events: readonly EventLine[];
  readonly hashes: readonly Buffer[];
  readonly note: string;
};

export const isItemProof = (text: string): boolean => text.startsWith(`{"format":"${FORMAT}"`);

/** Undefined if the text has not this form, or ends too early. */
const parseItemProof = (text: string): ItemProof | undefined => {
  if (!isItemProof(text) || !text.endsWith('\n')) return undefined;
  const lines = text.slice(0, -1).split('\n').map(parseObject);
  const [first, ...others] = lines;
  const note = others.pop()?.checkpoint;
  if (typeof first?.stream !== 'string' || typeof note !== 'string') return undefined;
  const end = others.findIndex((each) => each?.event === undefined);
  const split = end < 0 ? others.length : end;
  const events = others.slice(0, split).map(eventIn);
  const hashes = others
    .slice(split)
    .map((each) => (Array.isArray(each?.hashes) ? hashesIn(each.hashes) : undefined));
  return events.every((each) => each !== undefined) && hashes.every((each) => each !== undefined)
    ? { stream: first.stream, events, hashes: hashes.flat(), note }
    : undefined;
};

type Line = Readonly<Record<string, unknown>> | undefined;

const eventIn = (read: Line): EventLine | undefined => {
  const { index, event } = read ?? {};
  const salt = hashIn(read?.salt);
  return typeof index === 'number' &&
    Number.isSafeInteger(index) &&
    salt !== undefined &&
    typeof event === 'string'
    ? { index, salt, event }
    : undefined;
};

/** The value that was last recorded under a name, and the version that recorded it. */
type Fact = { readonly name: string; readonly value: unknown; readonly version: number };

export type CheckedItem =
  | (Signatures & {
      readonly isProven: true;
      readonly stream: string;
      readonly events: readonly RecordedInProof[];
      /** Their places in the log, counted from 0. */
      readonly indices: readonly number[];
      readonly facts: readonly Fact[];
      readonly checkpoint: TreeHead;
    })
  | NotProven;

/** Checks a proof of an item with nothing but the keys that one trusts. */
export const checkItemProof = (
  text: string,
  trusted: readonly TrustedKey[],
  cosignatures?: CheckCosignatures,
): CheckedItem => {
  const proof = parseItemProof(text);
  const note = proof && parseNote(proof.note);
  const checkpoint = note && parseTreeHead(note.text);
  if (proof === undefined || note === undefined || checkpoint === undefined)
    return notProven('file', 'The file is no proof of an item, or a part of it is missing.');
  const signatures = signaturesOn(note, checkpoint, trusted, cosignatures);
  if (typeof signatures === 'string') return notProven('key', signatures);
  const events = proof.events.map(({ event }) => parseRecorded(event));
  if (!events.every((each) => each !== undefined))
    return notProven('events', 'The file has no event of Annals.');
  const disorder = disorderIn(proof.stream, events);
  if (disorder !== undefined) return notProven('events', disorder);
  const leaves = proof.events.map(({ index, salt, event }) => ({
    index,
    leaf: leafHash(saltedEntry(salt, hashOfCanonical(event))),
  }));
  const root = rootByInclusions({ leaves, size: checkpoint.size, proof: proof.hashes });
  if (root === undefined || !root.equals(checkpoint.root))
    return notProven(
      'tree',
      'The log does not have these events in these places: one of them, or the proof, was changed.',
    );
  const indices = proof.events.map(({ index }) => index);
  return {
    isProven: true,
    stream: proof.stream,
    ...{ events, indices, facts: factsOf(events), checkpoint },
    ...signatures,
  };
};

/** The reason why these are not all versions of the stream up to the last one. */
const disorderIn = (stream: string, events: readonly RecordedInProof[]): string | undefined => {
  if (events.length === 0) return `The file has no event of ${stream}.`;
  for (const [at, event] of events.entries()) {
    if (event.stream !== stream)
      return `The proof is of ${stream}, and the file has an event of ${event.stream}.`;
    if (event.version !== at + 1)
      return at === 0
        ? `The file begins with version ${event.version} of ${stream}, and lacks those before it.`
        : `In the file, version ${event.version} of ${stream} comes after version ${at}: others are missing, or the order was changed.`;
  }
  return undefined;
};

/** The order is that in which the names were first recorded. */
const factsOf = (events: readonly RecordedInProof[]): readonly Fact[] => {
  const facts = new Map<string, Fact>();
  for (const { data, version } of events)
    for (const [name, value] of Object.entries(data)) facts.set(name, { name, value, version });
  return [...facts.values()];
};
