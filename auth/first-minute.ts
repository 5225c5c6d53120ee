// Over 200 lines, because it is one thing: the access of the first minute, from its creation to its removal.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { policyOf } from '#shared/policy.ts';
import {
  type FirstMinute,
  readDemoAccess,
  readFirstMinute,
  removeDemoAccess,
  writeFirstMinute,
} from '#shared/process/first-minute-file.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Credentials } from './accounts/credentials.ts';
import type { Persons } from './accounts/directory.ts';
import { signUp } from './accounts/sign-up.ts';
import { DEVELOPMENT_ADMIN as CLIENT_ID } from './clients/built-in.ts';
import type { By } from './clients/by.ts';
import type { Clients } from './clients/clients.ts';
import type { GrantEnder } from './storage/end-grants.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly gateway: CommandGateway;
  readonly clients: Clients;
  readonly persons: Persons;
  readonly credentials: Credentials;
};

/** An address that can never exist (RFC 2606). */
const AUTHOR = { name: 'Demo Author', email: 'demo@example.com' } as const;
const PASSWORD_BYTES = 12;

const by = (): By => ({
  caller: { kind: 'system', name: 'first-minute' },
  requestId: `first-minute-${randomUUID()}`,
});

/**
 * Makes the fixtures of a development installation, unless they exist: a service client that acts as an
 * administrator, and an author. Their secrets are new in every installation, and known only to readers of
 * DATA_DIR.
 */
export const prepareFirstMinute = async (
  dependencies: Dependencies,
  dataDir: string,
): Promise<FirstMinute> => {
  await migrateFirstMinute(dependencies.pool);
  // Written first, so that a later production start finds what a crash has left.
  await writeMark(dependencies.pool, { author: null });
  const known = await readFirstMinute(dataDir);
  const client = { clientId: CLIENT_ID, secret: await ensureClient(dependencies, known?.client.secret) };
  const author = { email: AUTHOR.email, password: await ensureAuthor(dependencies, known?.author.password) };
  const content: FirstMinute = { ...known, client, author };
  if (known?.client.secret !== client.secret || known.author.password !== author.password)
    await writeFirstMinute(dataDir, content);
  return content;
};

const ensureClient = async (
  { domain, clients }: Dependencies,
  secret: string | undefined,
): Promise<string> => {
  const { client, secret: made } = await obtainClient(domain, clients, secret);
  if (made === undefined)
    throw new Error(`the client ${client.clientId} does not use a secret: delete it, and start again`);
  return made;
};

const obtainClient = async (domain: Domain, clients: Clients, secret: string | undefined) => {
  const client = await clients.find(CLIENT_ID);
  if (client === undefined)
    return clients.register({ clientId: CLIENT_ID, settings: settingsOf(domain) }, by());
  // The domain may have other scopes by now.
  const { scopes, defaultScopes } = settingsOf(domain);
  await clients.change(CLIENT_ID, { apply: (before) => ({ ...before, scopes, defaultScopes }) }, by());
  if (secret !== undefined && (await clients.verifySecret(CLIENT_ID, secret))) return { client, secret };
  // The data folder has changed since the client was made.
  return clients.rotateSecret(CLIENT_ID, by());
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

const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url');

const LOOK_AGAIN_MS = 250;
const LOOKS_MAX = 40;

/** The directory may lag behind the log, which knows that the address is taken. */
const ensureAuthor = async (
  dependencies: Dependencies,
  password: string = newPassword(),
): Promise<string> => {
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const author = await obtainAuthor(dependencies, password);
    if (author !== undefined) {
      await writeMark(dependencies.pool, { author });
      return password;
    }
    await dependencies.clock.sleep(LOOK_AGAIN_MS);
  }
  throw new Error(`${AUTHOR.email} could not be signed up: start again`);
};

/** Undefined as long as it is unknown whose password it is. */
const obtainAuthor = async (dependencies: Dependencies, password: string): Promise<UserId | undefined> => {
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
    return signedUp.outcome === 'done' ? signedUp.person.userId : undefined;
  }
  if (!(await credentials.verify(person.userId, password))) await credentials.set(person.userId, password);
  return person.userId;
};

type Forgetting = Pick<Dependencies, 'pool' | 'clients' | 'persons' | 'credentials'> &
  Pick<GrantEnder, 'endGrantsOfUser'>;

/**
 * Removes the fixtures from an installation that has become production. Returns whether there were any. Looks
 * for the client and the author independently: an operator may have deleted one and not known of the other.
 */
export const forgetFirstMinute = async (dependencies: Forgetting): Promise<boolean> => {
  const { pool, clients } = dependencies;
  await migrateFirstMinute(pool);
  const mark = await selectMark(pool);
  const client = await clients.find(CLIENT_ID);
  if (mark === undefined && client === undefined) return false;
  const author = mark?.author ?? (await dependencies.persons.byEmail(AUTHOR.email))?.userId;
  if (author !== undefined) await lockOut(dependencies, author);
  if (client !== undefined) await clients.remove(CLIENT_ID, undefined, by()).catch(unlessGone);
  // The mark goes last, so that a restart repeats what a crash interrupted. It stays until the author is
  // known.
  if (author !== undefined) await deleteMark(pool);
  return client !== undefined || author !== undefined;
};

/** Removes the demo's administrator, whose password is in DATA_DIR. Returns whether there was one. */
export const forgetDemo = async (dependencies: Forgetting, dataDir: string): Promise<boolean> => {
  const demo = await readDemoAccess(dataDir);
  if (demo === undefined) return false;
  await lockOut(dependencies, demo.administrator.id as UserId);
  // Last, so that a restart repeats what a crash interrupted.
  await removeDemoAccess(dataDir);
  return true;
};

/** In production, anybody who has this password or is signed in with it is a stranger. */
const lockOut = async (
  { persons, credentials, endGrantsOfUser }: Forgetting,
  author: UserId,
): Promise<void> => {
  // Replaces it with a password that nobody knows.
  if ((await persons.byId(author))?.status !== 'deleted')
    await credentials.set(author, newPassword() + newPassword());
  await endGrantsOfUser(author);
};

/** Another process was first. */
const unlessGone = (error: unknown): void => {
  if (!(error instanceof Rejection) || error.code !== 'client_not_found') throw error;
};

type FirstMinuteMark = { readonly author: UserId | null };

const migrateFirstMinute = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-first-minute', new URL('./first-minute-migrations/', import.meta.url));

const selectMark = async (pool: Pool): Promise<FirstMinuteMark | undefined> => {
  const { rows } = await pool.query<FirstMinuteMark>('select author from auth.first_minute');
  return rows[0];
};

/** Never overwrites a known author with null. */
const writeMark = async (pool: Pool, { author }: FirstMinuteMark): Promise<void> => {
  await pool.query(
    `insert into auth.first_minute as known (author) values ($1)
     on conflict (only_row) do update set author = coalesce(excluded.author, known.author)`,
    [author],
  );
};

const deleteMark = async (pool: Pool): Promise<void> => {
  await pool.query('delete from auth.first_minute');
};
