import { randomBytes, randomUUID } from 'node:crypto';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type FirstMinute, readFirstMinute, writeFirstMinute } from '#shared/first-minute-file.ts';
import { SCOPES } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Credentials } from './accounts/credentials.ts';
import type { Persons } from './accounts/directory.ts';
import { signUp } from './accounts/sign-up.ts';
import type { By } from './clients/by.ts';
import { ClientSettings } from './clients/client.ts';
import type { Clients } from './clients/clients.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly gateway: CommandGateway;
  readonly clients: Clients;
  readonly persons: Persons;
  readonly credentials: Credentials;
};

const CLIENT_ID = 'development-admin';
/** An address at which nobody can ever be (RFC 2606). */
const AUTHOR = { name: 'Demo Author', email: 'demo@example.com', role: 'author' } as const;
const PASSWORD_BYTES = 12;

const by = (): By => ({ caller: { kind: 'system', name: 'first-minute' }, requestId: `first-minute-${randomUUID()}` });

/**
 * Makes what development begins with, unless it is there: a service client that acts as an administrator, and a person who
 * writes. Their secrets are new in every installation, and known to who can read DATA_DIR alone.
 */
export const prepareFirstMinute = async (dependencies: Dependencies, dataDir: string): Promise<FirstMinute> => {
  const known = await readFirstMinute(dataDir);
  const client = { clientId: CLIENT_ID, secret: await ensureClient(dependencies, known?.client.secret) };
  const author = { email: AUTHOR.email, password: await ensureAuthor(dependencies, known?.author.password) };
  const content: FirstMinute = { ...known, client, author };
  if (known?.client.secret !== client.secret || known.author.password !== author.password) await writeFirstMinute(dataDir, content);
  return content;
};

const ensureClient = async ({ clients }: Dependencies, secret: string | undefined): Promise<string> => {
  const { client, secret: made } = await obtainClient(clients, secret);
  if (made === undefined) throw new Error(`the client ${client.clientId} does not use a secret: delete it, and start again`);
  return made;
};

const obtainClient = async (clients: Clients, secret: string | undefined) => {
  const client = await clients.find(CLIENT_ID);
  if (client === undefined) return clients.register({ clientId: CLIENT_ID, settings: SETTINGS }, by());
  if (secret !== undefined && (await clients.verifySecret(CLIENT_ID, secret))) return { client, secret };
  // The data folder is another one than when it was made.
  return clients.rotateSecret(CLIENT_ID, by());
};

const SETTINGS = ClientSettings.parse({
  name: 'Development administrator',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: [...SCOPES],
  defaultScopes: [...SCOPES],
  serviceAccountRole: 'admin',
});

const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url');

const ensureAuthor = async (dependencies: Dependencies, password: string = newPassword()): Promise<string> => {
  const { persons, credentials } = dependencies;
  const person = await persons.byEmail(AUTHOR.email);
  if (person === undefined) {
    const { requestId } = by();
    await signUp(dependencies, { ...AUTHOR, password, requestId, formId: requestId });
  } else if (!(await credentials.verify(person.userId, password))) {
    await credentials.set(person.userId, password);
  }
  return password;
};

/** Removes it from an installation that has become a production. Answers whether there was anything. */
export const forgetFirstMinute = async ({ clients, persons, credentials }: Omit<Dependencies, 'pool' | 'gateway'>): Promise<boolean> => {
  if ((await clients.find(CLIENT_ID)) === undefined) return false;
  const person = await persons.byEmail(AUTHOR.email);
  // A password that nobody knows. The client goes last: as long as it is there, this is done again.
  if (person !== undefined) await credentials.set(person.userId, newPassword() + newPassword());
  await clients.remove(CLIENT_ID, undefined, by()).catch(unlessGone);
  return true;
};

/** Another process was first. */
const unlessGone = (error: unknown): void => {
  if (!(error instanceof Rejection) || error.code !== 'client_not_found') throw error;
};
