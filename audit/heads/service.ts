import { setTimeout as delay } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { tellProblem } from '#shared/audit/publication.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { FollowerOptions } from '#shared/follower/follower.ts';
import { createPublisher, type Publisher, type Publishing } from './publish.ts';
import { ChainBehind } from './reconcile.ts';

export type HeadsDependencies = Publishing & Pick<FollowerOptions, 'log' | 'metrics'> & { readonly everyMs: number };

/** While the chain is being built, it is looked at again sooner. */
const BEHIND_MS = 1_000;
/** At the end, a database that does not answer is not waited for: the next one to start signs what is left. */
const LAST_MAX_MS = 2_000;

/** Signs and publishes the head of the chain from time to time and at the end, in one process at a time. */
export const startHeads = async (dependencies: HeadsDependencies): Promise<AsyncDisposable> => {
  const { pool, log, everyMs, metrics } = dependencies;
  await migrateLeases(pool);
  const failures = new Counter({
    name: 'annals_audit_head_failures_total',
    help: 'How often a head of the chain could not be signed, or not be kept outside the database.',
    registers: [metrics],
  });
  const stopping = new AbortController();
  const onFailure = (err: unknown) => {
    failures.inc();
    log.error({ err }, 'No head of the chain can be published.');
  };
  const publishOrTell = async (publisher: Publisher, isOurs: () => boolean): Promise<number> => {
    try {
      await publisher.publish(isOurs);
      return everyMs;
    } catch (error) {
      if (error instanceof ChainBehind) return Math.min(BEHIND_MS, everyMs);
      await tellProblem(pool, error instanceof Error ? error.message : String(error)).catch(() => {});
      onFailure(error);
      return everyMs;
    }
  };
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const publisher = createPublisher(dependencies);
    const isOurs = () => !signal.aborted || signal.reason === stopping.signal.reason;
    while (!signal.aborted) {
      const waitMs = await publishOrTell(publisher, isOurs);
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
    // Not where another process has taken over.
    if (stopping.signal.aborted) await Promise.race([publishOrTell(publisher, isOurs), delay(LAST_MAX_MS, undefined, { ref: false })]);
  };
  const running = runUnderLease({ pool, name: 'audit-heads', onFailure }, work, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};
