import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import { type ClockReport, readClockReport } from '#shared/clock-drift/drift.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { cursorAt, type SeeingLog } from '#shared/event-log/own-cursor.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { type Caller, mayAlways } from '#shared/policy.ts';
import type { AuditKeys } from '#shared/rest/audit.ts';
import type { AuditHead } from '#shared/rest/audit-head.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { Reads } from '../../query/rest/read-routes.ts';
import { readFailureOf } from '../../query/rows/statement.ts';
import { readWitnessed, readWitnesses, type WitnessRow } from '../cosign/witness-rows.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { readPublication } from '../stored/publication.ts';
import { readHeadsAfter, readStatement, type StoredHead } from '../stored/signed-head.ts';
import { type AuditKey, endorsementText, readAuditKeys } from '../stored/signing-keys.ts';
import { listDifferences, readWatched, type Watched } from '../stored/watch.ts';
import { readNewestStamp } from '../time/time-stamp-rows.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { noteKeyOf } from '../tree/note-key.ts';
import { originOf } from '../tree/tree-head.ts';

type AuditReadDependencies = { readonly pool: Pool; readonly eventLog: SeeingLog & Pick<EventLog, 'head'> };

/**
 * Keys are public. Heads are for auditors: they reveal the number of rows and, two together, the hash of one.
 */
export const auditReads = (
  dependencies: AuditReadDependencies,
): Reads<'getAuditStatus' | 'listAuditHeads' | 'listAuditKeys'> => ({
  async getAuditStatus({ caller }) {
    return { kind: 'item', version: undefined, item: await readAuditStatus(dependencies, caller) };
  },

  async listAuditHeads(_reader, { after = 0, limit = LIMIT_DEFAULT }) {
    const heads = await readHeadsAfter(dependencies.pool, after, limit + 1);
    const page = heads.slice(0, limit);
    const pathAfter = (from: number) =>
      `/audit/heads?${new URLSearchParams({ after: String(from), limit: String(limit) })}`;
    const next = heads.length > limit && page.at(-1);
    return {
      kind: 'list',
      items: page.map(representHead),
      links: { self: pathAfter(after), ...(next && { next: pathAfter(next.count) }) },
    };
  },

  async listAuditKeys() {
    const { pool, eventLog } = dependencies;
    const keys: AuditKeys['keys'] = (await readAuditKeys(pool)).map((key) => toldKey(key, eventLog.identity));
    return { kind: 'item', version: undefined, item: { keys } satisfies AuditKeys };
  },
});

export const readAuditStatus = (dependencies: AuditReadDependencies, caller: Caller): Promise<AuditStatus> =>
  statusOf(dependencies, caller).catch((cause: unknown) => {
    throw readFailureOf(cause);
  });

const statusOf = async ({ pool, eventLog }: AuditReadDependencies, caller: Caller): Promise<AuditStatus> => {
  const origin = originOf(eventLog.identity);
  const [logEnd, chain, publication, checkpoint, watched, witnessed, stamped, clock] = await Promise.all([
    eventLog.head(),
    readChainEnd(pool),
    readPublication(pool),
    readCheckpoint(pool, PROJECTOR),
    readWatched(pool),
    readWitnessed(pool, origin),
    readNewestStamp(pool, origin),
    readClockReport(pool),
  ]);
  const [signed] = publication.count > 0 ? await readHeadsAfter(pool, publication.count - 1, 1) : [];
  const cursor: CursorOfPosition = (position) => cursorAt(eventLog, position);
  return {
    log: { cursor: cursor(logEnd) },
    chain: { count: chain.count, cursor: cursor(chain.position), head: chain.head.toString('hex') },
    signed: signed ? newestOf(representHead(signed)) : null,
    unproven: {
      events: Math.max(chain.count - publication.count, 0),
      since: publication.at?.toISOString() ?? null,
    },
    readModel: { cursor: cursor(checkpoint?.position ?? START) },
    verified: watched ? representWatched(watched, cursor) : null,
    witnessed: headOf(witnessed),
    stamped: headOf(stamped),
    clock: representClock(clock, mayAlways(caller, 'events.export')),
    ...(mayAlways(caller, 'events.export') && {
      problem: publication.problem,
      witnesses: (await readWitnesses(pool, origin)).map(representWitness),
      parked: await countParked(pool),
      differences: (await listDifferences(pool)).map((difference) => toldDifference(difference, cursor)),
    }),
  };
};

const representClock = (
  { largest, recent, wentBack, ...clock }: ClockReport,
  isWhole: boolean,
): AuditStatus['clock'] => ({
  ...clock,
  largest: [...largest],
  recent: [...recent],
  wentBack: wentBack.count,
  ...(isWhole && {
    latestWentBack: wentBack.latest.map(({ at, before, ...event }) => ({
      ...event,
      at: at.toISOString(),
      before: before.toISOString(),
    })),
  }),
});

type CursorOfPosition = (position: Position) => string;

const representWatched = (
  { count, position, beganAt, differences, finishedAt, finishedDifferences }: Watched,
  cursor: CursorOfPosition,
) => ({
  count,
  cursor: cursor(position),
  began: beganAt.toISOString(),
  finished: finishedAt?.toISOString() ?? null,
  differences: Math.max(differences, finishedDifferences ?? 0),
});

const toldDifference = (
  { position, foundAt, ...difference }: Awaited<ReturnType<typeof listDifferences>>[number],
  cursor: CursorOfPosition,
) => ({
  ...difference,
  fields: [...difference.fields],
  cursor: position === null ? null : cursor(position),
  at: foundAt.toISOString(),
});

const headOf = (head: { readonly size: number; readonly at: Date } | undefined) =>
  head ? { count: head.size, at: head.at.toISOString() } : null;

const representWitness = ({
  names,
  url,
  size,
  cosignedAt,
  problem,
  failingSince,
  isRefusing,
}: WitnessRow) => ({
  ...{ names: [...names], url, count: size, at: cosignedAt?.toISOString() ?? null },
  ...{ problem, since: failingSince?.toISOString() ?? null, isRefusing },
});

const newestOf = ({ count, at, head, key }: AuditHead) => ({ count, at, head, key });

const countParked = async (pool: Pool): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(`select count(*) from ${LIVE_SCHEMA}.parked`);
  return rows[0]?.count ?? 0;
};

const representHead = ({ count, statement, signature }: StoredHead): AuditHead => {
  const { at, head, key } = readStatement(statement);
  return { count, at, head, key, statement, signature };
};

const toldKey = (key: AuditKey, log: LogIdentity): AuditKeys['keys'][number] => ({
  ...key.publicKey,
  kid: key.id,
  use: 'sig',
  alg: 'EdDSA',
  made_at: key.madeAt,
  endorsed_by: key.endorsedBy,
  endorsement: key.endorsement,
  endorsement_text: endorsementText(key),
  vkey: verifierKeyOf(noteKeyOf(key.publicKey, log)),
});
