import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { publishing } from '#domain/publishing.ts';
import { createApp } from '#edge/http/app.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { loadAdditions } from '#process/part.ts';
import type { Upstream } from '#process/upstreams.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type Codec, createCodec } from '#shared/events/codec.ts';
import { type MasterKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createRowProofs, type RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createCredentials } from '../../auth/accounts/credentials.ts';
import { openSmtpMail } from '../../auth/mail/smtp/smtp-mail.ts';
import { type AuthService, startAuthService } from '../../auth/service.ts';
import { startCommandService } from '../../command/service.ts';
import { ALL_PARTS } from '../../parts.ts';
import * as schemas from './client-settings.ts';
import { by, registerUser, system } from './command-side.ts';
import { startLocalServer } from './local-server.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { NO_BLOBS } from './no-blobs.ts';
import { NO_ERASURES } from './no-erasures.ts';
import type { SmtpReceiver } from './smtp-receiver.ts';

export type AccountsSite = AsyncDisposable & {
  readonly url: string;
  /** Another origin, that of the client's redirect URI. It answers everything with a page. */
  readonly appUrl: string;
  readonly auth: AuthService;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly rowProofs: RowProofs;
  readonly eventLog: EventLog;
  readonly gateway: CommandGateway;
  readonly codec: Codec;
  addClient(clientId: string, settings?: Partial<ClientSettings>): Promise<void>;
  addPerson(person: {
    email: string;
    password?: string;
    role?: string;
    isConfirmed?: boolean;
  }): Promise<UserId>;
  deletePerson(userId: UserId): Promise<void>;
};

type Options = {
  readonly signUp?: 'off' | 'reader' | 'author';
  readonly trustProxy?: number;
  readonly issuerUrl?: string;
  /** Reached by a host name, as passkeys need it, and not by an IP address. */
  readonly isNamed?: boolean;
  /** The receiver of its mail; without one there is no mail. */
  readonly smtp?: SmtpReceiver;
  /** Identity providers with whose accounts people sign in. */
  readonly upstreams?: readonly Upstream[];
};

const silent = pino({ level: 'silent' });

/**
 * The authorization server with its pages and the command side behind it, on a database of its own, by HTTP.
 */
export const openAccountsSite = async (options: Options = {}): Promise<AccountsSite> => {
  const { signUp = 'author', trustProxy = 0, isNamed = false, issuerUrl, smtp, upstreams = [] } = options;
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createMigratedDatabase());
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 12 }));
  const eventLog = opening.use(await openEventLog({ url: database.url, clock: REAL_TIME }));
  const keys = opening.use(await openPostgresKeyStore({ pool, masterKey }));
  const rowProofs = createRowProofs({ masterKey, log: silent });
  const base = {
    domain: publishing,
    pool,
    eventLog,
    keys,
    masterKey,
    rowProofs,
    log: silent,
    metrics: createMetrics(),
    clock: REAL_TIME,
    erasures: NO_ERASURES,
  };
  const gateway = opening.use(
    await startCommandService({ ...base, blobs: NO_BLOBS }, await loadAdditions(ALL_PARTS, 'command')),
  );

  let app: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = opening.use(await startLocalServer((request, response) => app(request, response)));
  const application = opening.use(await startLocalServer(answerAsApplication));
  const url = isNamed ? server.url.replace('127.0.0.1', 'localhost') : server.url;
  const config = { ...CONFIG, issuerUrl: issuerUrl ?? url, publicUrl: url, signUp, trustProxy, upstreams };
  const mail = smtp && opening.use(openSmtpMail({ url: smtp.url, from: 'annals@example.com' }));
  const auth = opening.use(await startAuthService({ ...base, config, gateway, mail }));
  app = createApp({ log: silent, metrics: createMetrics(), routes: [auth.routes], trustProxy });
  const credentials = await createCredentials({ pool, rowProofs });

  const resources = opening.move();
  return {
    url,
    appUrl: application.url,
    auth,
    pool,
    masterKey,
    rowProofs,
    eventLog,
    gateway,
    codec: createCodec({ keys, domain: publishing }),
    async addClient(clientId, settings = {}) {
      const wanted = schemas.ClientSettings.parse({ ...clientAt(application.url), ...settings });
      await auth.clients.register({ clientId, settings: wanted }, by(system));
    },
    async addPerson({ email, password, role = 'author', isConfirmed = true }) {
      const userId = await registerUser(gateway, { email, role });
      await auth.persons.register({ userId, version: 1 as never, email, role });
      if (password !== undefined) await credentials.set(userId, password);
      if (isConfirmed)
        await pool.query('update auth.person set confirmed_at = now() where user_id = $1', [userId]);
      return userId;
    },
    async deletePerson(userId) {
      await gateway.send({ type: 'DeleteUser', userId }, by(system));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const CONFIG = {
  environment: 'test',
  ingressSecret: undefined,
  dpopNonce: 'offered',
  oauthProfile: 'oauth-2.1',
  corsOrigins: new Set<string>(),
  registration: 'off',
  clientDocuments: new Set<string>(),
  webhooks: { guard: { allowed: [], ports: 'any' } },
  limits: {
    bodyBytesMax: 1_048_576,
    headerBytesMax: 8_192,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    connectionsMax: 1_000,
  },
} as const;

const clientAt = (url: string) => ({
  name: 'Reading List',
  grantTypes: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirectUris: [`${url}/callback`],
  postLogoutRedirectUris: [`${url}/bye`],
  scopes: ['openid', 'profile', 'offline_access', 'read:articles', 'write:articles', 'write:comments'],
  defaultScopes: ['openid', 'read:articles', 'write:articles'],
});

const answerAsApplication: RequestListener = (_request, response) =>
  void response
    .writeHead(200, { 'content-type': 'text/html' })
    .end('<!doctype html><html lang="en"><title>Reading List</title><h1>Reading List</h1>');
