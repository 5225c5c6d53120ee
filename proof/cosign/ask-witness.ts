import { writeConsistency } from '../tree/consistency-file.ts';
import { cosignatureIn, type WitnessKey } from '../tree/cosignature.ts';
import { parseNote } from '../tree/note.ts';
import { parseTreeHead } from '../tree/tree-head.ts';
import { oneLineOfEach } from './one-line-of-each.ts';
import { post, type Reply } from './post.ts';

/** One `POST /add-checkpoint` (C2SP tlog-witness), and all that a witness may say to it. */

export type WitnessAnswer =
  | { readonly is: 'cosigned'; readonly cosignatures: string; readonly by: readonly WitnessKey[] }
  /** The witness has cosigned a head of another size last. */
  | { readonly is: 'elsewhere'; readonly size: number }
  /** The log contradicts the head that it has cosigned last. */
  | { readonly is: 'contradicted'; readonly reason: string }
  | { readonly is: 'failed'; readonly reason: string };

type Asked = {
  readonly url: string;
  readonly keys: readonly WitnessKey[];
  readonly old: number;
  readonly proof: readonly Buffer[];
  /** The checkpoint, as the log has signed it. */
  readonly note: string;
  readonly nowMs: number;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
};

const TIMEOUT_MS = 5_000;
/** Sixteen cosignatures of the longest kind are shorter. */
const BYTES_MAX = 65_536;
/** A cosignature says when: a clock that is further off says nothing. */
const SKEW_MAX_MS = 600_000;

export const askWitness = async (asked: Asked): Promise<WitnessAnswer> => {
  const { url, old, proof, note, timeoutMs = TIMEOUT_MS, signal } = asked;
  const body = writeConsistency(old, proof, note);
  const limits = { timeoutMs, bytesMax: BYTES_MAX, signal };
  try {
    return readReply(await post(`${url}/add-checkpoint`, { type: 'text/plain', body, ...limits }), asked);
  } catch (error) {
    return failed((error as Error).message);
  }
};

const failed = (reason: string): WitnessAnswer => ({ is: 'failed', reason });

const readReply = ({ status, body }: Reply, asked: Asked): WitnessAnswer => {
  switch (status) {
    case 200:
      return cosignaturesIn(body.toString(), asked);
    case 403:
      return failed('It does not know the key of this log: give it `vkey` of GET /audit/keys.');
    case 404:
      return failed('It does not know this log: give it `vkey` of GET /audit/keys.');
    case 409:
      return elsewhere(body.toString(), asked);
    case 422:
      return { is: 'contradicted', reason: 'The proof does not lead from the head that it has cosigned.' };
    default:
      return failed(`It answered ${status}.`);
  }
};

/** A witness answers so too if it has cosigned another head of the same size, and need not name the size then. */
const elsewhere = (text: string, { old, note }: Asked): WitnessAnswer => {
  const [, size] = /^(0|[1-9]\d{0,14})\n?$/.exec(text) ?? [];
  const isWhole = parseTreeHead(parseNote(note)?.text ?? '')?.size === old;
  if (isWhole && (size === undefined || Number(size) === old))
    return { is: 'contradicted', reason: 'It has cosigned another head of the same size.' };
  return size === undefined
    ? failed('It answered 409 without the size that it knows.')
    : { is: 'elsewhere', size: Number(size) };
};

/** Lines of other keys are left out. */
const cosignaturesIn = (lines: string, { note, keys, nowMs }: Asked): WitnessAnswer => {
  const read = parseNote(`${note}${lines}`);
  if (read === undefined) return failed('Its answer is no list of signatures.');
  const by: WitnessKey[] = [];
  for (const key of keys) {
    const found = cosignatureIn(read, key);
    if (found.is === 'wrong')
      return failed('Its signature is not over the head that it was asked to cosign.');
    if (found.is === 'absent') continue;
    if (Math.abs(found.atS * 1_000 - nowMs) > SKEW_MAX_MS)
      return failed('Its clock differs from ours by more than ten minutes.');
    by.push(key);
  }
  if (by.length === 0) return failed('Its answer has no cosignature by the key in the policy.');
  return { is: 'cosigned', cosignatures: oneLineOfEach(read.signatures, by), by };
};
