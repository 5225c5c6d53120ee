import { randomBytes, randomUUID } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type FirstMinute, readFirstMinute, writeFirstMinute } from '#process/first-minute-file.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { poll } from '#shared/clock/poll.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { policyOf } from '#shared/policy.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import type { Credentials } from './accounts/credentials.ts';
import { signUp } from './accounts/sign-up.ts';
import { DEVELOPMENT_ADMIN as CLIENT_ID } from './clients/built-in.ts';
import type { By } from './clients/by.ts';
import type { Clients } from './clients/clients.ts';
import type { Persons } from './directory.ts';
import {
  type Access,
  migrateFirstMinute,
  selectShared,
  updateShared,
  writeMark,
} from './first-minute-table.ts';

export type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
  readonly gateway: CommandGateway;
  readonly clients: Clients;
  readonly persons: Persons;
  readonly credentials: Credentials;
  readonly rowProofs: RowProofs;
};

/** An address that can never exist (RFC 2606). */
export const AUTHOR = { name: 'Demo Author', email: 'demo@example.com' } as const;
const PASSWORD_BYTES = 12;

export const by = (): By => ({
  caller: { kind: 'system', name: 'first-minute' },
  requestId: `first-minute-${randomUUID()}`,
});

/**
 * Makes the fixtures of a development installation, unless they exist: a service client that acts as an
 * administrator, and an author. Their secrets are new in every installation, and known only to readers of
 * DATA_DIR. The database has them too, sealed with the master key: a start with another data folder finds them
 * there, and takes nothing from the first.
 */
export const prepareFirstMinute = async (
  dependencies: Dependencies,
  dataDir: string,
): Promise<FirstMinute> => {
  await migrateFirstMinute(dependencies.pool);
  // Written first, so that a later production start finds what a crash has left.
  await writeMark(dependencies.pool, { author: null });
  await using _alone = await waitForOthers(dependencies);
  const known = await readFirstMinute(dataDir);
  const shared = await selectShared(dependencies);
  const local = known && { secret: known.client.secret, password: known.author.password };
  const both = [local, shared].filter((access) => access !== undefined);
  const secret = await ensureClient(
    dependencies,
    both.map((access) => access.secret),
  );
  const password = await ensureAuthor(
    dependencies,
    both.map((access) => access.password),
  );
  const isIn = (access: Access | undefined) => access?.secret === secret && access.password === password;
  if (!isIn(shared)) await updateShared(dependencies, { secret, password });
  const content: FirstMinute = {
    ...known,
    client: { clientId: CLIENT_ID, secret },
    author: { email: AUTHOR.email, password },
  };
  if (!isIn(local)) await writeFirstMinute(dataDir, content);
  return content;
};

const LOCK = 'annals first minute';

/** Of two starts at once, the second finds what the first makes. */
const waitForOthers = async ({ pool, clock }: Dependencies): Promise<AsyncDisposable> => {
  const held = await poll({ clock, everyMs: LOOK_EVERY_MS, withinMs: LOCKED_MAX_MS }, () =>
    holdLock(pool, 'hashtext($1)', LOCK),
  );
  if (held === undefined)
    throw new Error('another start on this database does not come to an end: start again');
  return held;
};

const ensureClient = async (
  { domain, clients }: Dependencies,
  secrets: readonly string[],
): Promise<string> => {
  const { client, secret: made } = await obtainClient(domain, clients, secrets);
  if (made === undefined)
    throw new Error(`the client ${client.clientId} does not use a secret: delete it, and start again`);
  return made;
};

const obtainClient = async (domain: Domain, clients: Clients, secrets: readonly string[]) => {
  const client = await clients.find(CLIENT_ID);
  if (client === undefined) return registerAnew(clients, domain);
  // The domain may have other scopes by now.
  const { scopes, defaultScopes } = settingsOf(domain);
  await clients.change(CLIENT_ID, { apply: (before) => ({ ...before, scopes, defaultScopes }) }, by());
  for (const secret of secrets) if (await clients.verifySecret(CLIENT_ID, secret)) return { client, secret };
  // An operator has rotated it, or another master key has sealed it.
  return clients.rotateSecret(CLIENT_ID, by());
};

/** Replaces a client of this id that does not count, because a release without proofs of rows has changed it. */
const registerAnew = async (clients: Clients, domain: Domain) => {
  const wanted = { clientId: CLIENT_ID, settings: settingsOf(domain) };
  return clients.register(wanted, by()).catch(async (error: unknown) => {
    if (!(error instanceof Rejection) || error.code !== 'client_id_taken') throw error;
    await clients.remove(CLIENT_ID, undefined, by());
    return clients.register(wanted, by());
  });
};

const settingsOf = (domain: Domain) =>
  clientSettingsOf(domain).ClientSettings.parse({
    name: 'Development administrator',
    grantTypes: ['client_credentials'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes: policyOf(domain).scopes,
    defaultScopes: policyOf(domain).scopes,
    serviceAccountRole: 'admin',
  });

export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url');

const LOOK_EVERY_MS = 250;
const SIGNED_UP_WITHIN_MS = 10_000;
const LOCKED_MAX_MS = 60_000;

/** The directory may lag behind the log, which knows that the address is taken. */
const ensureAuthor = async (dependencies: Dependencies, passwords: readonly string[]): Promise<string> => {
  const made = passwords[0] ?? newPassword();
  const author = await poll(
    { clock: dependencies.clock, everyMs: LOOK_EVERY_MS, withinMs: SIGNED_UP_WITHIN_MS },
    () => obtainAuthor(dependencies, [made, ...passwords.slice(1)]),
  );
  if (author === undefined) throw new Error(`${AUTHOR.email} could not be signed up: start again`);
  await writeMark(dependencies.pool, { author: author.userId });
  return author.password;
};

/** With the password that works: one of these, or else the first, which is set. */
type Author = { readonly userId: UserId; readonly password: string };

/** Undefined as long as it is unknown whose password it is. */
const obtainAuthor = async (
  dependencies: Dependencies,
  [password, ...others]: readonly [string, ...string[]],
): Promise<Author | undefined> => {
  const { domain, persons, credentials } = dependencies;
  const person = await persons.byEmail(AUTHOR.email);
  if (person === undefined) {
    const { requestId } = by();
    const signedUp = await signUp(dependencies, {
      ...AUTHOR,
      role: domain.signUp,
      password,
      requestId,
      formId: requestId,
    });
    return signedUp.outcome === 'done' ? { userId: signedUp.person.userId, password } : undefined;
  }
  const { userId } = person;
  for (const each of [password, ...others])
    if (await credentials.verify(userId, each)) return { userId, password: each };
  await credentials.set(userId, password);
  return { userId, password };
};
