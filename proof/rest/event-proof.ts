import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import { notingEvents } from '#shared/read-log/noted.ts';
import type { EventProof } from '#shared/rest/audit.ts';
import { findEvent } from '../../query/events/find-event.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { readFailureOf } from '../../query/rows/statement.ts';
import { countOf } from '../chain/place-in-chain.ts';
import { type PublicHeads, provingHeadIn, readPublicHeads } from '../cosign/public-heads.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { canonicalForm, hashOf } from '../stored/canonical.ts';
import { readFirstStampOver } from '../time/time-stamp-rows.ts';
import { leavesOf } from '../tree/leaves.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { publishedHeadIn } from '../tree/note-key.ts';
import { writeProof } from '../tree/proof-file.ts';
import { proofsOf } from '../tree/proofs.ts';
import { tileReader } from '../tree/tiles.ts';
import { EDITED, NOT_YET } from './not-proven.ts';

type Dependencies = Parameters<typeof findEvent>[0] & {
  readonly domain: Domain;
  readonly masterKey: MasterKey;
};

/** The proof of one event. It has the whole event as it was recorded, so it is for administrators. */
export const eventProofReads = (dependencies: Dependencies): Reads<'getEventProof'> => ({
  async getEventProof({ caller, id }, { with: more }) {
    const item = await proveEvent(dependencies, { caller, id, isStamped: more === 'timestamp' });
    return { kind: 'item', version: undefined, item };
  },
});

type Asked = { readonly caller: Caller; readonly id: string; readonly isStamped?: boolean };

export const proveEvent = async (
  dependencies: Dependencies,
  { caller, id, isStamped = false }: Asked,
): Promise<EventProof> => {
  if (!mayAlways(caller, 'events.export')) throw new Rejection('forbidden');
  const eventId = pathEventId(id);
  const event = eventId && (await findEvent(dependencies, eventId));
  if (event === undefined) throw new Rejection('event_not_found');
  notingEvents(dependencies.domain)([event]);
  return proofOf(dependencies, event, isStamped).catch((cause: unknown) => {
    throw readFailureOf(cause);
  });
};

const proofOf = async (
  { pool, masterKey }: Dependencies,
  event: RecordedEvent,
  isStamped: boolean,
): Promise<EventProof> => {
  const hash = hashOf(event);
  // The end first: the chain grows meanwhile.
  const end = await readChainEnd(pool);
  const [count, heads] = await Promise.all([countOf(pool, event, hash), readPublicHeads(pool)]);
  const stamped = isStamped && count !== undefined ? await stampIn(pool, heads, count) : undefined;
  const { head: chosen, isWitnessed } = stamped ?? provingHeadIn(heads, count ?? 0);
  const signed = chosen && (await publishedHeadIn(pool, chosen.note));
  if (count === undefined && end.position >= event.position) throw new HttpProblem('unavailable', EDITED);
  if (count === undefined || signed === undefined || count > signed.head.size)
    throw new HttpProblem('unavailable', NOT_YET);
  const { head, key } = signed;
  const index = count - 1;
  const leaves = leavesOf(masterKey);
  const hashes = await proofsOf(tileReader(pool, leaves), head.size).inclusion(index);
  const timestamp = stamped && { timestamp: stamped.token.toString('base64') };
  const proof = writeProof({
    event: canonicalForm(event),
    salt: leaves.saltOf(index, hash),
    ...{ index, hashes, note: chosen?.note ?? '', ...(stamped && { timestamp: stamped.token }) },
  });
  return {
    event: event.id,
    index,
    size: head.size,
    vkey: verifierKeyOf(key),
    isWitnessed,
    ...timestamp,
    proof,
  };
};

/** The first head with a time stamp that covers the event: it says the earliest time. */
const stampIn = async (pool: Pool, { newest, hasWitnesses }: PublicHeads, count: number) => {
  const [origin = ''] = newest?.note.split('\n', 1) ?? [];
  const head = await readFirstStampOver(pool, origin, count);
  if (head === undefined || newest === undefined || head.size > newest.size)
    throw new HttpProblem('unavailable', NO_STAMP);
  return { head, token: head.token, isWitnessed: hasWitnesses ? head.isWitnessed : null };
};

const NO_STAMP = {
  detail:
    'No time stamp covers this event yet. Heads are stamped each AUDIT_TSA_EVERY_MS, if AUDIT_TSA_URL names an authority.',
  headers: { 'Retry-After': '60' },
};
