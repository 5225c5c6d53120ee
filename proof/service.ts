import type { Registry } from 'prom-client';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { AuditSettings } from '#process/config.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { startChain } from './chain/follow-chain.ts';
import { headFilesIn } from './heads/head-files.ts';
import { startHeads } from './heads/service.ts';
import { sendOutside } from './outside.ts';
import { readChainEnd } from './stored/blocks.ts';
import { readPublication } from './stored/publication.ts';
import { startVerificationCommands } from './verification-commands.ts';
import { gauge } from './watch/gauge.ts';
import { startWatch, type WatchOptions } from './watch/service.ts';

type AuditDependencies = Omit<WatchOptions, 'eventsPerSecond' | 'auditDir'> & {
  readonly settings: AuditSettings;
};

/** The number of events that the chain covers. */
export const countChained = async (pool: Pool): Promise<number> => (await readChainEnd(pool)).count;

/**
 * The audit of the log: the chain, its signed heads, and a continuous verification. One of several processes
 * runs each of them.
 */
export const startAudit = async (dependencies: AuditDependencies): Promise<AsyncDisposable> => {
  const { settings } = dependencies;
  await using opening = new AsyncDisposableStack();
  await migrateAudit(dependencies.pool);
  observeAudit(dependencies);
  // Started first, so stopped last: the final state of the chain is signed.
  opening.use(
    await startHeads({ ...dependencies, files: headFilesIn(settings.dir), everyMs: settings.headEveryMs }),
  );
  const onHead = await sendOutside(dependencies, opening);
  opening.use(await startChain({ ...dependencies, auditDir: settings.dir, onHead }));
  const eventsPerSecond = settings.watchEventsPerSecond;
  if (eventsPerSecond > 0)
    opening.use(await startWatch({ ...dependencies, auditDir: settings.dir, eventsPerSecond }));
  if (logsReads(dependencies.domain)) {
    const { startSigningReads } = await import('./reads/service.ts');
    opening.use(
      await startSigningReads({
        ...{ ...dependencies, auditDir: settings.dir, everyMs: settings.headEveryMs },
        keepDays: settings.keepReadsDays,
      }),
    );
  }
  opening.use(await startVerificationCommands(dependencies));
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/**
 * Metrics of the proof, whichever process builds it. The lag of the chain is reported like that of every
 * follower.
 */
const observeAudit = ({ pool, metrics }: { readonly pool: Pool; readonly metrics: Registry }): void => {
  const signed = async () => (await readPublication(pool)).count;
  const chained = () => countChained(pool);
  gauge(
    metrics,
    { name: 'annals_audit_chained_events', help: 'Events of the log that the hash chain covers.' },
    chained,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_signed_events',
      help: 'Events covered by a signed head outside the database.',
    },
    signed,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_unproven_events',
      help: 'Events of the chain after the newest head outside the database.',
    },
    async () => Math.max((await chained()) - (await signed()), 0),
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_heads_refused',
      help: '1 while heads are not published: the heads outside the database contradict the chain, or cannot be written.',
    },
    async () => ((await readPublication(pool)).problem === null ? 0 : 1),
  );
};
