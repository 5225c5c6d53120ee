import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { START } from '#shared/event-log/event-log.ts';
import { refusedType } from '#shared/event-log/foreign-record.ts';
import { writeInParts } from '#shared/projection/fill.ts';
import { useReadModel } from '#shared/projection/schema.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';
import type { ChainCheck } from '../chain/verify-chain.ts';
import type { Stretch } from '../derived/compare-index.ts';
import type { Findings } from './findings.ts';
import type { Fold } from './fold.ts';
import { addPositions, checkRising } from './positions.ts';
import type { Page } from './read-log.ts';

type Takers = {
  readonly tables: Tables;
  readonly pool: Pool;
  readonly schema: string;
  readonly chain: ChainCheck;
  readonly fold: Fold;
  /** Compares tables beside the read model with the events. */
  readonly compareDerived: (stretch: Stretch) => Promise<readonly DerivedFinding[]>;
  readonly findings: Findings;
  readonly isSkipped: (event: { readonly stream: StreamName; readonly version: Version }) => boolean;
};

/** Reads the log once, and passes every page to all checks. */
export type Passage = {
  /** Builds rows only if requested. */
  take(page: Page, isOfReadModel: boolean): Promise<void>;
  position(): Position;
  events(): number;
};

export const createPassage = ({
  pool,
  tables,
  schema,
  chain,
  fold,
  compareDerived,
  findings,
  isSkipped,
}: Takers): Passage => {
  let position = START;
  let taken = 0;
  const reportDerived = async (stretch: Stretch): Promise<void> => {
    for (const finding of await compareDerived(stretch)) findings.add(finding);
  };
  return {
    position: () => position,
    events: () => taken,
    async take({ events, prepared, damagedElsewhere }, isOfReadModel) {
      checkRising(position, events, findings);
      const forged = new Set<Position>();
      for (const { notAuthentic, stream, version, position: at, ...event } of events) {
        if (notAuthentic === undefined) continue;
        forged.add(at);
        findings.add({
          kind: 'event_not_authentic',
          stream,
          version,
          position: at,
          type: refusedType(event) ?? event.type,
        });
      }
      // Damaged events of rows are reported as parked, or by the differing rows.
      const ofRows = isOfReadModel ? [] : await withoutParked(pool, prepared.damaged);
      for (const { stream, version, position: at, type, reason } of [...damagedElsewhere, ...ofRows].filter(
        (event) => !isSkipped(event) && !forged.has(event.position),
      )) {
        findings.add({ kind: 'event_damaged', stream, version, position: at, type, reason });
      }
      const taking = [
        ...(isOfReadModel
          ? [
              writeInParts({ pool, tables }, prepared, (connection) => useReadModel(connection, schema)),
              fold.take(prepared),
            ]
          : []),
        addPositions(pool, schema, events),
        chain.take(events),
        reportDerived({ after: position, upTo: events.at(-1)?.position ?? position, events }),
      ];
      // Waits for all, so that none writes to tables that are being dropped.
      for (const outcome of await Promise.allSettled(taking))
        if (outcome.status === 'rejected') throw outcome.reason;
      position = events.at(-1)?.position ?? position;
      taken += events.length;
    },
  };
};

/** Events that are parked in the live read model were reported when they arrived. */
const withoutParked = async (pool: Pool, damaged: readonly Parked[]): Promise<readonly Parked[]> => {
  if (damaged.length === 0) return [];
  const { rows } = await pool.query<Pick<Parked, 'stream' | 'version'>>(
    `select stream, version from ${LIVE_SCHEMA}.parked where stream = any($1)`,
    [damaged.map(({ stream }) => stream)],
  );
  const since = new Map(rows.map(({ stream, version }) => [stream, version]));
  return damaged.filter(({ stream, version }) => version < (since.get(stream) ?? Number.POSITIVE_INFINITY));
};
