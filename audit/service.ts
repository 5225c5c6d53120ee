import type { Registry } from 'prom-client';
import { readChainEnd } from '#shared/audit/blocks.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { readPublication } from '#shared/audit/publication.ts';
import type { AuditSettings } from '#shared/config.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { startVerificationOrders } from './carry-out-orders.ts';
import { startChain } from './chain/follow-chain.ts';
import { gauge } from './gauge.ts';
import { headFilesIn } from './heads/head-files.ts';
import { startHeads } from './heads/service.ts';
import { startWatch, type WatchOptions } from './watch/service.ts';

export type AuditDependencies = Omit<WatchOptions, 'eventsPerSecond'> & {
  readonly masterKey: MasterKey;
  readonly settings: AuditSettings;
};

/**
 * What proves the log while it is written: the chain beside it, its signed heads, and somebody who verifies all of it again and again.
 * Of several processes, one does each.
 */
export const startAudit = async (dependencies: AuditDependencies): Promise<AsyncDisposable> => {
  const { settings } = dependencies;
  await using opening = new AsyncDisposableStack();
  await migrateAudit(dependencies.pool);
  observeAudit(dependencies);
  // Begun first and so ended last: what the chain has at the end is signed.
  opening.use(await startHeads({ ...dependencies, files: headFilesIn(settings.dir), everyMs: settings.headEveryMs }));
  opening.use(await startChain(dependencies));
  const eventsPerSecond = settings.watchEventsPerSecond;
  if (eventsPerSecond > 0) opening.use(await startWatch({ ...dependencies, eventsPerSecond }));
  opening.use(await startVerificationOrders(dependencies));
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Tells how far the log is proven, whoever proves it: how far the chain is behind the log, is told as of every follower. */
const observeAudit = ({ pool, metrics }: { readonly pool: Pool; readonly metrics: Registry }): void => {
  const signed = async () => (await readPublication(pool)).count;
  const chained = async () => (await readChainEnd(pool)).count;
  gauge(metrics, { name: 'annals_audit_chained_events', help: 'Events of the log that the chain of hashes covers.' }, chained);
  gauge(metrics, { name: 'annals_audit_signed_events', help: 'Events that a signed head covers which is outside the database.' }, signed);
  gauge(
    metrics,
    { name: 'annals_audit_unproven_events', help: 'Events in the chain that came after the newest head outside the database.' },
    async () => Math.max((await chained()) - (await signed()), 0),
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_heads_refused',
      help: '1 while heads are not published, because what is outside the database contradicts it or cannot be written.',
    },
    async () => ((await readPublication(pool)).problem === null ? 0 : 1),
  );
};
