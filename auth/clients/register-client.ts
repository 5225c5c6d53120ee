import { randomBytes } from 'node:crypto';
import { Rejection } from '#kernel/base/rejection.ts';
import { isAddress } from '#shared/clients/document-address.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { type ClientAndSecret, hasSecret } from '../storage/client.ts';
import { type By, type SettledBy, securityContextOf } from './by.ts';
import { insertClient, type Queryable, selectClient } from './client-table.ts';
import { demandScopes } from './demand-rights.ts';
import { type EndDependencies, endAgain, endFor } from './end.ts';
import { hashSecret, newSecret } from './secret.ts';
import { makeServiceAccount, type ServiceAccountDependencies } from './service-account.ts';

export type ClientDependencies = ServiceAccountDependencies &
  EndDependencies & {
    readonly record: RecordSecurityEvent;
    readonly rowProofs: Pick<RowProofs, 'of' | 'check'>;
  };

export type NewClient = {
  readonly clientId?: string | undefined;
  readonly settings: ClientSettings;
  readonly selfRegistered?: boolean;
};

const ID_BYTES = 16;

/** Records the event before the change is committed: a missing event would be worse than an extra one. */
export const registerClient = async (
  dependencies: ClientDependencies,
  wanted: NewClient,
  by: SettledBy<ClientAndSecret>,
): Promise<ClientAndSecret> => {
  const { settings, selfRegistered = false, clientId = randomBytes(ID_BYTES).toString('hex') } = wanted;
  // A client that registers itself gets scopes that users may grant, whoever sends the request, and never
  // acts for itself.
  if (!selfRegistered) demandScopes(by.caller, settings.scopes);
  if ((await selectClient(dependencies.pool, clientId)) !== undefined) throw new Rejection('client_id_taken');
  if (selfRegistered) await makeRoom(dependencies, by);
  const secret = hasSecret(settings.tokenEndpointAuthMethod) ? newSecret() : undefined;
  const serviceAccount = await makeServiceAccount(dependencies, { clientId, settings }, by);
  const { pool, rowProofs } = dependencies;
  // It blocks the document at this address, which may have been a client until now.
  const ending = isAddress(clientId) ? 'grants' : 'nothing';
  const { client, ended } = await inTransaction(pool, async (connection) => {
    const secretHash = secret === undefined ? undefined : hashSecret(secret);
    const inserted = await insertClient(
      { database: connection, rowProofs },
      {
        ...settings,
        clientId,
        secretHash,
        serviceAccount,
        selfRegistered,
      },
    );
    await dependencies.record(
      { type: 'client.registered', data: { clientId, selfRegistered } },
      securityContextOf(by),
    );
    const ended = await endFor(connection, clientId, ending);
    await by.settle?.(connection, { client: inserted, secret });
    return { client: inserted, ended };
  });
  await endAgain(dependencies, { clientId, ending, ended });
  return { client, secret };
};

/** Nobody vouches for clients that register themselves, so their number is limited. */
const SELF_REGISTERED_MAX = 10_000;
/** How many are removed at once. Each needs an event, and one registration waits for all of them. */
const REMOVED_MAX = 100;

type Dependencies = { readonly pool: Pool; readonly record: RecordSecurityEvent };

/**
 * Over the limit, removes the oldest clients that no user has allowed anything, however young. A minimum age
 * would let an attacker fill the table and keep everybody out. If there are none to remove, refuses the
 * registration.
 */
const makeRoom = async ({ pool, record }: Dependencies, by: By): Promise<void> => {
  if ((await countSelfRegistered(pool)) < SELF_REGISTERED_MAX) return;
  await inTransaction(pool, async (connection) => {
    const removed = await deleteUnused(connection);
    if (removed.length === 0) throw new Rejection('conflict');
    for (const clientId of removed)
      await record({ type: 'client.deleted', data: { clientId } }, securityContextOf(by));
  });
};

const countSelfRegistered = async (database: Queryable): Promise<number> => {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) from auth.client where self_registered',
  );
  return rows[0]?.count ?? 0;
};

const deleteUnused = async (database: Queryable): Promise<readonly string[]> => {
  const { rows } = await database.query<{ clientId: string }>(
    `delete from auth.client where client_id in (
       select client_id from auth.client as old
       where self_registered and not exists (select from auth.record where record.client_id = old.client_id)
       order by created_at limit $1 for update skip locked)
     returning client_id as "clientId"`,
    [REMOVED_MAX],
  );
  const clientIds = rows.map(({ clientId }) => clientId);
  // A statement of its own sees a use that was noted while the first waited for its lock.
  await database.query('delete from auth.client_use where client_id = any ($1)', [clientIds]);
  return clientIds;
};
