import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { pino } from 'pino';
import { publishing } from '#domain/publishing.ts';
import { createApp } from '#edge/http/app.ts';
import { listen } from '#edge/http/listen.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { loadAdditions } from '#process/part.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { type MasterKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createRowProofs, type RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createCredentials } from '../../auth/accounts/credentials.ts';
import { type AuthService, startAuthService } from '../../auth/service.ts';
import type { StoredClient } from '../../auth/storage/client.ts';
import { startCommandService } from '../../command/service.ts';
import { ALL_PARTS } from '../../parts.ts';
import { until } from '../../testing/until.ts';
import { ClientSettings } from './client-settings.ts';
import { system } from './command-side.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { NO_BLOBS } from './no-blobs.ts';
import { NO_ERASURES } from './no-erasures.ts';

/** The server's name for clients, wherever an instance of it listens. */
export const ISSUER = 'https://annals.test';
export const CALLBACK = 'https://app.test/callback';
export const PASSWORD = 'correct horse battery staple';

/** An authorization server as HTTP clients see it. */
export type AuthByHttp = {
  /** Like `fetch`, for URLs that begin with the issuer. */
  readonly fetch: typeof fetch;
};

/** One process's authorization server. */
export type AuthInstance = AsyncDisposable &
  AuthByHttp & {
    readonly service: AuthService;
    readonly url: string;
    readonly pool: Pool;
    readonly handler: RequestListener;
    readonly gateway: CommandGateway;
    readonly eventLog: EventLog;
    readonly keys: KeyStore;
    readonly rowProofs: RowProofs;
  };

type Options = {
  readonly settings?: Readonly<Record<string, string>>;
  readonly keysPollMs?: number;
  readonly clock?: Clock;
};

/** A database of its own, on which any number of authorization servers can be opened, like processes. */
export type AuthDatabase = AsyncDisposable & {
  readonly masterKey: MasterKey;
  readonly databaseUrl: string;
  open(options?: Options): Promise<AuthInstance>;
};

export const createAuthDatabase = async (): Promise<AuthDatabase> => {
  const database = await createMigratedDatabase();
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  return {
    masterKey,
    databaseUrl: database.url,
    open: (options = {}) => openInstance({ url: database.url, masterKey }, options),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
};

const openInstance = async (
  { url, masterKey }: { url: string; masterKey: MasterKey },
  { settings, keysPollMs, clock = REAL_TIME }: Options,
) => {
  await using opening = new AsyncDisposableStack();
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const pool = opening.use(openPool({ url, applicationName: 'test', connectionsMax: 8 }));
  const eventLog = opening.use(await openEventLog({ url, clock: REAL_TIME }));
  const keys = opening.use(await openPostgresKeyStore({ pool, masterKey }));
  const base = {
    domain: publishing,
    pool,
    eventLog,
    keys,
    masterKey,
    rowProofs: createRowProofs({ masterKey, log }),
    log,
    metrics: createMetrics(),
    clock,
    erasures: NO_ERASURES,
  };
  const gateway = opening.use(
    await startCommandService({ ...base, blobs: NO_BLOBS }, await loadAdditions(ALL_PARTS, 'command')),
  );
  const config = loadConfig({ NODE_ENV: 'test', PUBLIC_URL: ISSUER, ...settings });
  const service = opening.use(
    await startAuthService({ ...base, config, gateway, ...(keysPollMs !== undefined && { keysPollMs }) }),
  );
  const handler = createApp({
    log,
    metrics: base.metrics,
    routes: [service.routes],
    trustProxy: config.trustProxy,
  });
  const server = createServer(handler);
  opening.defer(() => closeNow(server));
  const origin = await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  const resources = opening.move();
  return {
    service,
    pool,
    url: origin,
    handler,
    gateway,
    eventLog,
    keys,
    rowProofs: base.rowProofs,
    fetch: fetchAt(origin),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  } satisfies AuthInstance;
};

const closeNow = async (server: Server): Promise<void> => {
  server.close();
  server.closeAllConnections();
};

const fetchAt =
  (origin: string): typeof fetch =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return fetch(new URL(url.pathname + url.search, origin), { redirect: 'manual', ...init });
  };

const by = () => ({ caller: system, requestId: randomUUID() });

/** Registers a client; returns its secret if it has one. */
export const registerClient = async (
  { service }: AuthInstance,
  settings: Partial<Parameters<typeof ClientSettings.parse>[0] & object> & Record<string, unknown>,
): Promise<StoredClient & { secret: string }> => {
  const parsed = ClientSettings.parse({ name: 'A client', ...settings });
  const { client, secret = '' } = await service.clients.register({ settings: parsed }, by());
  // The directory of persons follows the log, and tokens need the service account's role.
  const { serviceAccount } = client;
  if (serviceAccount !== undefined)
    await until(
      () => service.persons.byId(serviceAccount),
      (person) => person !== undefined,
    );
  return { ...client, secret };
};

export const webClient = {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: [CALLBACK],
  postLogoutRedirectUris: ['https://app.test/signed-out'],
  scopes: ['openid', 'profile', 'email', 'read:articles', 'write:articles'],
  defaultScopes: ['read:articles'],
} as const;

export const serviceClient = {
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
  scopes: ['read:articles', 'write:articles'],
  defaultScopes: ['read:articles'],
  serviceAccountRole: 'author',
} as const;

export type TestPerson = {
  readonly userId: UserId;
  readonly email: string;
  /** For users with a second factor. */
  readonly recoveryCode?: string | undefined;
};

export const registerPerson = async (instance: AuthInstance, role: Role = 'author'): Promise<TestPerson> => {
  const email = `${randomUUID()}@example.com`;
  const context = { caller: system, requestId: randomUUID() };
  const userId = (
    await instance.gateway.send({ type: 'RegisterUser', name: 'Ada Lovelace', email, role }, context)
  ).id as UserId;
  await (await createCredentials(instance)).set(userId, PASSWORD);
  await until(
    () => instance.service.persons.byId(userId),
    (person) => person !== undefined,
  );
  return { userId, email };
};
