import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { demandCheckpoint } from '#shared/follower/demand-checkpoint.ts';
import type { Progress } from '#shared/projection/catch-up.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import type { Mending } from '#shared/projection/retry.ts';
import type { Finding } from '#shared/rest/verification-report.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import type { ChainCheckOptions } from '../chain/verify-chain.ts';
import { readChainEnd } from '../stored/blocks.ts';

export type Verification = Mending &
  Pick<ChainCheckOptions, 'masterKey' | 'auditDir' | 'given'> & {
    /** The position to verify up to; by default the end of the log. */
    readonly at?: Position;
    /** Whether rows are rebuilt and compared, or only the log and its chain are checked. */
    readonly isOfReadModel: boolean;
    readonly showPersonal: boolean;
    /** If the content of files is compared with their digests. */
    readonly blobs?: Pick<Blobs, 'read'> | undefined;
    readonly snapshots: Pick<Snapshots, 'find'>;
    readonly domain: Domain;
    /** After how many days entries of the log of reads are removed; undefined keeps all. */
    readonly keepReadsDays?: number | undefined;
    /** By which timers are due; by default that of the database. */
    readonly clock?: Pick<Clock, 'aheadMs'>;
    readonly signal: AbortSignal;
    /** Yields to other work after the given time of work. */
    readonly pause?: (workedMs: number) => Promise<void>;
    onProgress(progress: Progress | { readonly step: 'check'; readonly what: string }): void;
  };

export type Plan = {
  /** Events up to here are applied at first; the live read model moves on. */
  readonly upTo: Position;
  /** The log is read at least up to here. */
  readonly end: Position;
  /** True if that is the end of the log. */
  readonly isWhole: boolean;
  readonly isLive: boolean;
  readonly findings: readonly Finding[];
};

/** Determines what can be compared: for a position in the past there are no live rows. */
export const planOf = async ({ pool, eventLog, tables, at, isOfReadModel }: Verification): Promise<Plan> => {
  const live = await readCheckpoint(pool, PROJECTOR);
  const { position: chained } = await readChainEnd(pool);
  const head = await headReaching(eventLog, Math.max(live?.position ?? START, chained) as Position);
  const end = at ?? head;
  const log = { upTo: end, end, isWhole: at === undefined, isLive: false, findings: [] };
  if (!isOfReadModel) return log;
  if (!live)
    throw new StartRefused(
      'The read model is empty: start Annals, or the projector, and let it apply the log.',
    );
  await demandCheckpoint(PROJECTOR, eventLog, { ...live, position: START, event: null });
  if (at !== undefined && at < live.position) return log;
  if (!(await isOfThisRelease(pool, tables, LIVE_SCHEMA))) {
    throw new StartRefused(
      'The tables of the read model belong to another release: run “projection rebuild”, and verify afterwards.',
    );
  }
  const isCut = live.position > head;
  const findings: readonly Finding[] = isCut
    ? [{ kind: 'log_shorter_than_read_model', head, readModel: live.position }]
    : [];
  return { ...log, upTo: isCut ? head : live.position, isLive: true, findings };
};
