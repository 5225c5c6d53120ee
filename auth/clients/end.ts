import { revoke } from '#edge/authenticate/revocations.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { endGrantsOfClient } from '../storage/end-grants.ts';
import { deleteAccessTokensOfClient, type EndedGrant } from '../storage/end-records.ts';
import type { Ending } from './changes.ts';

export type EndDependencies = {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Called for each grant after the commit. */
  onEnded(grant: EndedGrant): Promise<void>;
};

/** How long a process may use a cached client. */
export const CACHE_MS = 250;
/** The time limit of a request that was admitted by a cached client. */
const REQUEST_MS = 250;

/** Ends the tokens in the caller's transaction, so that no crash lets them outlive the change. */
export const endFor = async (
  connection: Connection,
  clientId: string,
  ending: Ending,
): Promise<readonly EndedGrant[]> => {
  switch (ending) {
    case 'nothing':
      return [];
    case 'tokens':
      await revoke(connection, 'client', clientId);
      await deleteAccessTokensOfClient(connection, clientId);
      return [];
    case 'grants':
      return endGrantsOfClient(connection, clientId);
  }
};

/**
 * Ends the tokens once more after the commit. Every process uses the cached client for a moment longer, and
 * tokens that it issues in between are newer than the first revocation and would survive it.
 */
export const endAgain = async (
  { pool, clock, onEnded }: EndDependencies,
  {
    clientId,
    ending,
    ended,
  }: { readonly clientId: string; readonly ending: Ending; readonly ended: readonly EndedGrant[] },
): Promise<void> => {
  if (ending === 'nothing') return;
  for (const grant of ended) await onEnded(grant);
  await clock.sleep(CACHE_MS + REQUEST_MS);
  for (const grant of await inTransaction(pool, (connection) => endFor(connection, clientId, ending)))
    await onEnded(grant);
};
