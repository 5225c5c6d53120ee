import { parked } from '#edge/http/parked.ts';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { authorize, type Caller, mayAlways } from '#shared/policy.ts';
import { noteWholeOf, notingNothing } from '#shared/read-log/noted.ts';
import type { KindReads } from '../../query/reads/reads.ts';
import { createMeter } from '../../query/rest/meter.ts';
import type { Reader } from '../../query/rest/read-routes.ts';
import { readFailureOf } from '../../query/rows/statement.ts';
import { type Kind, readingOf } from '../../query/time-travel/aggregates.ts';
import { isAuditor } from '../../query/time-travel/auditor.ts';
import { createPositionFinder } from '../../query/time-travel/find-position.ts';
import type { PastOptions } from '../../query/time-travel/options.ts';
import { counter } from '../chain/place-in-chain.ts';
import { provingHeadIn, readPublicHeads } from '../cosign/public-heads.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { canonicalForm, hashOf } from '../stored/canonical.ts';
import { HASHES_PER_LINE, itemProofLines } from '../tree/item-file.ts';
import { leavesOf } from '../tree/leaves.ts';
import { publishedHeadIn } from '../tree/note-key.ts';
import { proofsOf } from '../tree/proofs.ts';
import { tileReader } from '../tree/tiles.ts';
import { EDITED, NOT_YET } from './not-proven.ts';

export type ItemProofDependencies = Pick<PastOptions, keyof PastOptions> & {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly masterKey: MasterKey;
  readonly kinds: Pick<KindReads, 'item'>;
};

/** The lines of a file, in parts. */
type Lines = AsyncGenerator<string>;

/**
 * The proof of an item: all events of its stream, as far as the newest checkpoint or `at` reaches. It returns
 * when the first of them are proven, so that a refusal comes before the first line.
 */
export const createItemProofs = (dependencies: ItemProofDependencies) => {
  const { domain, kinds } = dependencies;
  const findPosition = createPositionFinder(dependencies);
  return async (kind: Kind, reader: Reader, at: string | Position | undefined): Promise<Lines> => {
    const { caller, charge } = reader;
    if (!mayAlways(caller, 'events.export')) throw new Rejection('forbidden');
    if (!isAuditor(caller, readingOf(domain, kind))) {
      // Items of the kernel have no read of their own: their right decides.
      if (domain.kinds[kind] === undefined) throw refusalOf(caller, readingOf(domain, kind));
      await notingNothing(() => kinds.item(kind)(reader));
    }
    const id = pathId(reader.id);
    if (id === undefined) throw new Rejection(notFound(kind));
    const declared = domain.kinds[kind];
    if (declared !== undefined) noteWholeOf(declared)?.(id);
    const stream = streamName(kind, id);
    const upTo = typeof at === 'string' ? await findPosition(at, charge, stream) : at;
    const eventLog = createMeter(charge).metered(dependencies.eventLog);
    const lines = linesOf({ ...dependencies, eventLog }, { kind, stream, upTo });
    const first = await lines.next().catch((cause: unknown) => {
      throw cause instanceof StreamCut ? parked(cause) : readFailureOf(cause);
    });
    return startingWith(first, lines);
  };
};

const refusalOf = (caller: Caller, right: Operation): Rejection => {
  const answer = authorize(caller, right, {});
  return answer === 'allowed' ? new Rejection('forbidden') : answer;
};

async function* startingWith(first: IteratorResult<string>, lines: Lines): Lines {
  if (first.done) return;
  yield first.value;
  yield* lines;
}

type Proving = Pick<ItemProofDependencies, 'pool' | 'masterKey'> & {
  readonly eventLog: Pick<EventLog, 'read'>;
};
type Wanted = {
  readonly kind: Kind;
  readonly stream: StreamName;
  readonly upTo: Position | undefined;
};

async function* linesOf({ pool, masterKey, eventLog }: Proving, { kind, stream, upTo }: Wanted): Lines {
  // The end first: the chain grows meanwhile.
  const end = await readChainEnd(pool);
  const heads = await readPublicHeads(pool);
  const signed = heads.newest && (await publishedHeadIn(pool, heads.newest.note));
  const isReached = upTo === undefined || upTo <= end.position;
  const leaves = leavesOf(masterKey);
  const countOf = counter(pool);
  const indices: number[] = [];
  reading: for await (const page of eventLog.read(stream)) {
    const lines: string[] = indices.length === 0 ? [itemProofLines.first(stream)] : [];
    for (const event of page) {
      if (upTo !== undefined && event.position > upTo) {
        if (indices.length === 0) throw new HttpProblem('not_there_then');
        yield lines.join('');
        break reading;
      }
      const hash = hashOf(event);
      const count = await countOf(event, hash);
      if (count === undefined && end.position >= event.position) throw new HttpProblem('unavailable', EDITED);
      const isCovered = signed !== undefined && count !== undefined && count <= signed.head.size;
      if (!isReached || (!isCovered && indices.length === 0)) throw new HttpProblem('unavailable', NOT_YET);
      if (!isCovered) {
        yield lines.join('');
        break reading;
      }
      indices.push(count - 1);
      lines.push(lineOf(event, { index: count - 1, salt: leaves.saltOf(count - 1, hash) }));
    }
    yield lines.join('');
  }
  const { head } = provingHeadIn(heads, (indices.at(-1) ?? 0) + 1);
  if (head === undefined || indices.length === 0) throw new Rejection(notFound(kind));
  yield* hashLines(proofsOf(tileReader(pool, leaves), head.size).inclusions(indices));
  yield itemProofLines.last(head.note);
}

const lineOf = (event: RecordedEvent, place: { readonly index: number; readonly salt: Buffer }): string =>
  itemProofLines.event({ ...place, event: canonicalForm(event) });

async function* hashLines(hashes: AsyncGenerator<Buffer>): Lines {
  let some: Buffer[] = [];
  for await (const hash of hashes) {
    some.push(hash);
    if (some.length < HASHES_PER_LINE) continue;
    yield itemProofLines.hashes(some);
    some = [];
  }
  if (some.length > 0) yield itemProofLines.hashes(some);
}
