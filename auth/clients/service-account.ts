import { createHash } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { leastRoleOf } from '#kernel/registry/roles.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Persons } from '../directory.ts';
import type { By } from './by.ts';
import { demandAccountMaker } from './demand-rights.ts';

export type ServiceAccountDependencies = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly eventLog: Pick<EventLog, 'read'>;
  /** Makes the service account known before it is asked for a token. */
  readonly persons: Pick<Persons, 'register'>;
};

export const actsForItself = ({ grantTypes }: Pick<ClientSettings, 'grantTypes'>): boolean =>
  grantTypes.includes('client_credentials');

/**
 * Registers the user as whom a client acts, like every other user. Never call it inside a transaction: it
 * needs connections of the same pool, and callers that each hold one would deadlock. If the client is not
 * made after all, a retry with the same settings finds the same user.
 */
export const makeServiceAccount = async (
  { domain, gateway, eventLog, persons }: ServiceAccountDependencies,
  { clientId, settings }: { readonly clientId: string; readonly settings: ClientSettings },
  by: By,
): Promise<UserId | undefined> => {
  if (!actsForItself(settings)) return undefined;
  const least = leastRoleOf(domain);
  const { name, serviceAccountRole: role = least } = settings;
  demandAccountMaker(by.caller, role !== least);
  const idempotencyKey = `service-account-${clientId}-${digestOf(name, role)}`;
  const context = {
    caller: { kind: 'system', name: 'clients' },
    requestId: by.requestId,
    idempotencyKey,
  } as const;
  const { id, version } = await gateway
    .send({ type: 'RegisterUser', name, email: null, role }, context)
    .catch(refuseHaste);
  const userId = id as UserId;
  // An earlier client with this id may have had this account, and nobody acts as a deleted user.
  if (await isDeletionRecorded(eventLog, userId))
    throw new Rejection('client_id_taken', {}, { says: DELETED });
  await persons.register({ userId, version, email: null, role });
  return userId;
};

const DELETED = 'The service account of this client was deleted: choose another id.';

/** Another name or role is another request; the key of the first would refuse it. */
const digestOf = (name: string, role: Role): string =>
  createHash('sha256')
    .update(JSON.stringify([name, role]))
    .digest('base64url');

/**
 * The key is ours, so its error would puzzle the caller: another request is making the same account just now.
 */
const refuseHaste = (error: unknown): never => {
  if (error instanceof Rejection && error.code === 'idempotency_key_in_use')
    throw new Rejection('conflict', {}, { cause: error });
  throw error;
};
