import { ACCOUNT_CLIENT_ID } from '#shared/policy.ts';
import type { ManagedAccount } from '#shared/rest/managed-accounts.ts';
import { isConfirmed } from '../accounts/confirmed.ts';
import { findReachable } from '../clients/find-reachable.ts';
import type { OwnAccountDependencies } from '../own-account/dependencies.ts';
import type { Person } from '../persons/person-table.ts';

export type AccountDependencies = Pick<
  OwnAccountDependencies,
  | 'domain'
  | 'pool'
  | 'persons'
  | 'clients'
  | 'credentials'
  | 'secondFactors'
  | 'passkeys'
  | 'identities'
  | 'sessions'
  | 'readAllowedClients'
  | 'ownTokens'
>;

/** For a person who is not deleted. */
export const readAccount = async (
  dependencies: AccountDependencies,
  { userId, status }: Person,
): Promise<ManagedAccount> => {
  const { pool, credentials, secondFactors, passkeys, identities, sessions, readAllowedClients, ownTokens } =
    dependencies;
  const [confirmed, passwordSince, secondFactor, keys, linked, open, allowed, tokens] = await Promise.all([
    isConfirmed(pool, userId),
    credentials.changedAt(userId),
    secondFactors.of(userId),
    passkeys.of(userId),
    identities.of(userId),
    sessions.of(userId),
    readAllowedClients(userId),
    ownTokens.of(userId),
  ]);
  return {
    userId,
    status: status === 'deactivated' ? 'deactivated' : 'active',
    isConfirmed: confirmed,
    hasPassword: passwordSince !== undefined,
    hasSecondFactor: secondFactor !== undefined,
    passkeys: keys.length,
    identities: linked.map(({ id, upstream, linkedAt, usedAt }) => ({
      ...{ id, upstream },
      linkedAt: linkedAt.toISOString(),
      lastUsedAt: usedAt?.toISOString() ?? null,
    })),
    sessions: open.map(({ uid, signedInAtS, seen }) => ({
      id: uid,
      browser: seen?.browser ?? null,
      network: seen?.network ?? null,
      signedInAt: textOf(signedInAtS),
      lastSeenAt: seen === undefined ? null : textOf(seen.atS),
    })),
    applications: await Promise.all(
      allowed.filter(({ clientId }) => clientId !== ACCOUNT_CLIENT_ID).map(applicationIn(dependencies)),
    ),
    tokens: tokens.map(({ id, name, scopes, madeAt, expiresAt, usedAt }) => ({
      ...{ id, name, scopes: [...scopes] },
      createdAt: madeAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      lastUsedAt: usedAt?.toISOString() ?? null,
    })),
  };
};

type Allowed = Awaited<ReturnType<AccountDependencies['readAllowedClients']>>[number];

const applicationIn =
  ({ clients }: AccountDependencies) =>
  async ({
    clientId,
    scopes,
    sinceS,
    usedAtS,
  }: Allowed): Promise<ManagedAccount['applications'][number]> => ({
    clientId,
    name: (await findReachable(clients, clientId))?.name ?? clientId,
    scopes: [...scopes],
    allowedAt: textOf(sinceS),
    lastUsedAt: usedAtS === undefined ? null : textOf(usedAtS),
  });

const MS_PER_SECOND = 1_000;
const textOf = (atS: number): string => new Date(atS * MS_PER_SECOND).toISOString();
