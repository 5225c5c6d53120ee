import type { Clock } from '#shared/clock/clock.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { FollowerOptions } from '#shared/follower/follower.ts';
import { readKeptDigest } from '#shared/projection/kept-digest.ts';
import { Counter } from '#shared/prometheus.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { recordProblem, recordPublished } from '../stored/publication.ts';
import {
  insertHead,
  readNewestHead,
  readStatement,
  type StoredHead,
  writeStatement,
} from '../stored/signed-head.ts';
import { type AuditKeyDependencies, openSigner } from '../stored/signing-keys.ts';
import { appendHeads, type HeadFiles, stampOfFiles } from './head-files.ts';
import { ChainBehind, LogWasCut, reconcile } from './reconcile.ts';

type HeadsDependencies = Publishing &
  Pick<FollowerOptions, 'log' | 'metrics' | 'clock'> & { readonly everyMs: number };

/** While the chain is being built, the next attempt comes sooner. */
const BEHIND_MS = 1_000;
/** On shutdown, an unresponsive database is not waited for: the next process signs the rest. */
const LAST_MAX_MS = 2_000;

/** Signs and publishes the head of the chain periodically and on shutdown, in one process at a time. */
export const startHeads = async (dependencies: HeadsDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, log, everyMs, metrics, clock } = dependencies;
  await migrateLeases(pool);
  const failures = new Counter({
    name: 'annals_audit_head_failures_total',
    help: 'Failed attempts to sign a head of the chain, or to write it outside the database.',
    registers: [metrics],
  });
  const stopping = new AbortController();
  const onFailure = (err: unknown) => {
    failures.inc();
    log.error({ err }, 'The head of the chain cannot be published.');
  };
  const publishOrReport = async (publisher: Publisher, isOurs: () => boolean): Promise<number> => {
    try {
      await publisher.publish(isOurs);
      return everyMs;
    } catch (error) {
      if (error instanceof ChainBehind) return Math.min(BEHIND_MS, everyMs);
      if (error instanceof LogWasCut) await eventLog.reportLost?.(error);
      await recordProblem(pool, error instanceof Error ? error.message : String(error)).catch(() => {});
      onFailure(error);
      return everyMs;
    }
  };
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const publisher = createPublisher(dependencies);
    const isOurs = () => !signal.aborted || signal.reason === stopping.signal.reason;
    while (!signal.aborted) {
      const waitMs = await publishOrReport(publisher, isOurs);
      await clock.sleep(waitMs, signal);
    }
    // Not if another process has taken over.
    if (stopping.signal.aborted)
      await Promise.race([
        publishOrReport(publisher, isOurs),
        clock.sleep(LAST_MAX_MS, undefined, { ref: false }),
      ]);
  };
  const running = runUnderLease({ pool, name: 'audit-heads', clock, onFailure }, work, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

type Publishing = AuditKeyDependencies & {
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'late' | 'reportLost'>;
  readonly files: HeadFiles;
  readonly clock: Clock;
};

/** Publishes heads in sequence; requires the lease. */
type Publisher = {
  /**
   * Signs the current chain head and writes it outside the database; no-op if unchanged. Without the lease,
   * the head is left to the new leader.
   */
  publish(isOurs?: () => boolean): Promise<void>;
};

export const createPublisher = (publishing: Publishing): Publisher => {
  const { pool, files } = publishing;
  /**
   * The stamp of the files as last left here. If another process has written, or a write was incomplete, they
   * are reconciled again.
   */
  let stamp: string | undefined;
  let key: string | undefined;
  return {
    async publish(isOurs = () => true) {
      const signer = await openSigner(publishing);
      if (key !== signer.key || stamp !== (await stampOfAll(publishing))) await reconcile(publishing);
      key = signer.key;
      stamp = undefined;
      if (!isOurs()) return;
      const head = await signNext(publishing, signer);
      if (!isOurs()) return;
      if (head) await appendHeads(files, [head]);
      stamp = await stampOfAll(publishing);
      const newest = await readNewestHead(pool);
      await recordPublished(pool, {
        count: newest?.count ?? 0,
        at: newest ? readStatement(newest.statement).at : null,
      });
    },
  };
};

const stampOfAll = async ({ pool, files }: Publishing): Promise<string> =>
  `${(await readNewestHead(pool))?.count} ${await stampOfFiles(files)}`;

/** In the database first: after a crash in between, the next process finds the head missing outside. */
const signNext = async (
  { pool, eventLog, clock }: Publishing,
  signer: Awaited<ReturnType<typeof openSigner>>,
): Promise<StoredHead | undefined> => {
  const end = await readChainEnd(pool);
  const newest = await readNewestHead(pool);
  if (end.count <= (newest?.count ?? 0)) return undefined;
  const { count, position } = end;
  const statement = writeStatement({
    v: 1,
    log: eventLog.identity,
    count,
    position,
    head: end.head.toString('hex'),
    at: new Date(clock.nowMs()).toISOString(),
    readModel: (await readKeptDigest(pool)) ?? null,
    key: signer.key,
  });
  const head = { count, statement, signature: signer.sign(statement) };
  return (await insertHead(pool, head, signer.key)) ? head : undefined;
};
