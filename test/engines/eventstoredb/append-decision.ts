import type { ExpectedRevision } from './records.ts';
import { isSoftDeleted, lastRevision, type Stream } from './stream.ts';

type AppendDecision =
  | { readonly decision: 'append' }
  | { readonly decision: 'repeat'; readonly revision: bigint }
  | { readonly decision: 'refuse'; readonly current: bigint }
  | { readonly decision: 'deleted' };

const APPEND: AppendDecision = { decision: 'append' };
const NO_STREAM_REVISION = -1n;

/**
 * The real server's rule, derived from the recorded facts: an id is known only within its stream, and content
 * is never compared.
 */
export const decideAppend = (
  stream: Stream,
  expected: ExpectedRevision,
  ids: readonly string[],
): AppendDecision => {
  if (stream.tombstone) return { decision: 'deleted' };
  const current = lastRevision(stream);
  if (expected === 'any') return decideUnconditional(stream, ids);
  if (expected === 'stream_exists') {
    if (current === NO_STREAM_REVISION) return { decision: 'refuse', current };
    // Not in the recorded facts; the server's source answers StreamDeleted here.
    return isSoftDeleted(stream) ? { decision: 'deleted' } : decideUnconditional(stream, ids);
  }
  const wanted = expected === 'no_stream' ? NO_STREAM_REVISION : expected;
  if (wanted === current) return APPEND;
  return wanted > current ? { decision: 'refuse', current } : decideBehind(stream, wanted, ids);
};

/**
 * Without an exact revision the first id decides: unknown appends all, known must find all the others known
 * too.
 */
const decideUnconditional = (stream: Stream, ids: readonly string[]): AppendDecision => {
  const [first, ...others] = ids;
  const start = first === undefined ? undefined : stream.revisionOfId.get(first);
  if (start === undefined) return APPEND;
  let revision = start;
  for (const id of others) {
    const known = stream.revisionOfId.get(id);
    if (known === undefined) return { decision: 'refuse', current: lastRevision(stream) };
    revision = known;
  }
  return { decision: 'repeat', revision };
};

/** An append at an outdated revision is a repeat if exactly these ids come after it. */
const decideBehind = (stream: Stream, wanted: bigint, ids: readonly string[]): AppendDecision => {
  const start = Number(wanted) + 1;
  const standing = ids.findIndex((id, index) => stream.records[start + index]?.id !== id);
  if (ids.length > 0 && standing === -1) return { decision: 'repeat', revision: wanted + BigInt(ids.length) };
  if (standing === 0 && wanted === NO_STREAM_REVISION && isSoftDeleted(stream)) return APPEND;
  return { decision: 'refuse', current: lastRevision(stream) };
};
