import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { mayAlways } from '#shared/policy.ts';
import type { EventProof } from '#shared/rest/audit.ts';
import { findEvent } from '../../query/events/find-event.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { readFailureOf } from '../../query/rows/statement.ts';
import { noteKeyIn } from '../chain/note-key.ts';
import { countOf } from '../chain/place-in-chain.ts';
import { canonicalForm, hashOf } from '../stored/canonical.ts';
import { leavesOf } from '../tree/leaves.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { writeProof } from '../tree/proof-file.ts';
import { proofsOf } from '../tree/proofs.ts';
import { readCheckpointNote, tileReader } from '../tree/tiles.ts';

type Dependencies = Parameters<typeof findEvent>[0] & { readonly masterKey: MasterKey };

/** The proof of one event. It has the whole event as it was recorded, so it is for administrators. */
export const eventProofReads = (dependencies: Dependencies): Reads<'getEventProof'> => ({
  async getEventProof({ caller, id }) {
    if (!mayAlways(caller, 'events.export')) throw new Rejection('forbidden');
    const eventId = pathEventId(id);
    const event = eventId && (await findEvent(dependencies, eventId));
    if (event === undefined) throw new Rejection('event_not_found');
    const item = await proofOf(dependencies, event).catch((cause: unknown) => {
      throw readFailureOf(cause);
    });
    return { kind: 'item', version: undefined, item };
  },
});

const proofOf = async (
  { pool, eventLog, masterKey }: Dependencies,
  event: RecordedEvent,
): Promise<EventProof> => {
  const hash = hashOf(event);
  const [count, checkpoint, key] = await Promise.all([
    countOf(pool, event, hash),
    readCheckpointNote(pool),
    noteKeyIn(pool, eventLog.identity),
  ]);
  if (count === undefined || checkpoint === undefined || count > checkpoint.size)
    throw new HttpProblem('unavailable', {
      detail: 'The proof has not reached this event yet, or has another event in its place.',
      headers: { 'Retry-After': '1' },
    });
  const index = count - 1;
  const leaves = leavesOf(masterKey);
  const { size, note } = checkpoint;
  const hashes = await proofsOf(tileReader(pool, leaves), size).inclusion(index);
  const proof = writeProof({
    event: canonicalForm(event),
    salt: leaves.saltOf(index),
    ...{ index, hashes, note },
  });
  return { event: event.id, index, size, vkey: verifierKeyOf(key), proof };
};
