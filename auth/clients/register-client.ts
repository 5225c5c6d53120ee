import { randomBytes } from 'node:crypto';
import type { ClientSettings } from '#shared/clients/settings.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { Rejection } from '#shared/rejection.ts';
import type { RecordSecurityEvent } from '../security-log.ts';
import { type By, circumstancesOf } from './by.ts';
import { hasSecret } from './client.ts';
import { insertClient, selectClient } from './client-table.ts';
import type { ClientAndSecret } from './clients.ts';
import { demandScopes } from './demand-rights.ts';
import type { EndDependencies } from './end.ts';
import { hashSecret, newSecret } from './secret.ts';
import { makeRoom } from './self-registered.ts';
import { makeServiceAccount, type ServiceAccountDependencies } from './service-account.ts';

export type ClientDependencies = ServiceAccountDependencies & EndDependencies & { readonly record: RecordSecurityEvent };

export type NewClient = { readonly clientId?: string | undefined; readonly settings: ClientSettings; readonly selfRegistered?: boolean };

const ID_BYTES = 16;

/** The event is recorded before the change is committed: of the two it is the one that must not be missing. */
export const registerClient = async (dependencies: ClientDependencies, wanted: NewClient, by: By): Promise<ClientAndSecret> => {
  const { settings, selfRegistered = false, clientId = randomBytes(ID_BYTES).toString('hex') } = wanted;
  // What registers itself gets what users may give, whoever sends the request; and it never acts for itself.
  if (!selfRegistered) demandScopes(by.caller, settings.scopes);
  if ((await selectClient(dependencies.pool, clientId)) !== undefined) throw new Rejection('client_id_taken');
  if (selfRegistered) await makeRoom(dependencies, by);
  const secret = hasSecret(settings.tokenEndpointAuthMethod) ? newSecret() : undefined;
  const serviceAccount = await makeServiceAccount(dependencies, { clientId, settings }, by);
  const client = await inTransaction(dependencies.pool, async (connection) => {
    const secretHash = secret === undefined ? undefined : hashSecret(secret);
    const inserted = await insertClient(connection, { ...settings, clientId, secretHash, serviceAccount, selfRegistered });
    await dependencies.record({ type: 'client.registered', data: { clientId, selfRegistered } }, circumstancesOf(by));
    return inserted;
  });
  return { client, secret };
};
