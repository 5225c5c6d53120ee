import { migrateAudit } from '#shared/audit/migrate.ts';
import type { AuditSettings } from '#shared/config.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { startVerificationOrders } from './carry-out-orders.ts';
import { startChain } from './chain/follow-chain.ts';
import { headFilesIn } from './heads/head-files.ts';
import { startHeads } from './heads/service.ts';
import { observeAudit } from './observe-audit.ts';
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
