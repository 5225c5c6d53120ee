import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import type { EventProof } from '#shared/rest/audit.ts';
import { findEvent } from '../../query/events/find-event.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { readFailureOf } from '../../query/rows/statement.ts';
import { countOf } from '../chain/place-in-chain.ts';
import { provingHeadIn, readPublicHeads } from '../cosign/public-heads.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { canonicalForm, hashOf } from '../stored/canonical.ts';
import { leavesOf } from '../tree/leaves.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { publishedHeadIn } from '../tree/note-key.ts';
import { writeProof } from '../tree/proof-file.ts';
import { proofsOf } from '../tree/proofs.ts';
import { tileReader } from '../tree/tiles.ts';
import { EDITED, NOT_YET } from './not-proven.ts';

type Dependencies = Parameters<typeof findEvent>[0] & { readonly masterKey: MasterKey };

/** The proof of one event. It has the whole event as it was recorded, so it is for administrators. */
export const eventProofReads = (dependencies: Dependencies): Reads<'getEventProof'> => ({
  async getEventProof({ caller, id }) {
    return { kind: 'item', version: undefined, item: await proveEvent(dependencies, caller, id) };
  },
});

export const proveEvent = async (
  dependencies: Dependencies,
  caller: Caller,
  id: string,
): Promise<EventProof> => {
  if (!mayAlways(caller, 'events.export')) throw new Rejection('forbidden');
  const eventId = pathEventId(id);
  const event = eventId && (await findEvent(dependencies, eventId));
  if (event === undefined) throw new Rejection('event_not_found');
  return proofOf(dependencies, event).catch((cause: unknown) => {
    throw readFailureOf(cause);
  });
};

const proofOf = async ({ pool, masterKey }: Dependencies, event: RecordedEvent): Promise<EventProof> => {
  const hash = hashOf(event);
  // The end first: the chain grows meanwhile.
  const end = await readChainEnd(pool);
  const [count, heads] = await Promise.all([countOf(pool, event, hash), readPublicHeads(pool)]);
  const { head: chosen, isWitnessed } = provingHeadIn(heads, count ?? 0);
  const signed = chosen && (await publishedHeadIn(pool, chosen.note));
  if (count === undefined && end.position >= event.position) throw new HttpProblem('unavailable', EDITED);
  if (count === undefined || signed === undefined || count > signed.head.size)
    throw new HttpProblem('unavailable', NOT_YET);
  const { head, key } = signed;
  const index = count - 1;
  const leaves = leavesOf(masterKey);
  const hashes = await proofsOf(tileReader(pool, leaves), head.size).inclusion(index);
  const proof = writeProof({
    event: canonicalForm(event),
    salt: leaves.saltOf(index, hash),
    ...{ index, hashes, note: chosen?.note ?? '' },
  });
  return { event: event.id, index, size: head.size, vkey: verifierKeyOf(key), isWitnessed, proof };
};
