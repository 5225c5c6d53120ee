import { setTimeout as delay } from 'node:timers/promises';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { revoke } from '#shared/http/authenticate/revocations.ts';
import { endGrantsOfClient } from '../storage/end-grants.ts';
import { deleteAccessTokensOfClient, type EndedGrant } from '../storage/end-records.ts';
import type { Ending } from './changes.ts';

export type EndDependencies = {
  readonly pool: Pool;
  /** Told of each grant after the commit. */
  onEnded(grant: EndedGrant): Promise<void>;
};

/** How long a process may go by what it has read of a client. */
export const CACHE_MS = 250;
/** Who was let in by an old reading is answered within this. */
const REQUEST_MS = 250;

/** Ends it in the caller's transaction, so that no crash lets it outlive the change. */
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
 * Once more after the commit. For a moment longer every process goes on by what the client was before: what
 * it issues in between is newer than the revocation, and would survive it.
 */
export const endAgain = async (
  { pool, onEnded }: EndDependencies,
  {
    clientId,
    ending,
    ended,
  }: { readonly clientId: string; readonly ending: Ending; readonly ended: readonly EndedGrant[] },
): Promise<void> => {
  if (ending === 'nothing') return;
  for (const grant of ended) await onEnded(grant);
  await delay(CACHE_MS + REQUEST_MS);
  for (const grant of await inTransaction(pool, (connection) => endFor(connection, clientId, ending)))
    await onEnded(grant);
};
