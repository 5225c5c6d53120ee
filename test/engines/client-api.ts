import { randomBytes } from 'node:crypto';
import { type Request, Router } from 'express';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { createRowProofs, type RowProofs } from '#shared/row-proofs/row-proofs.ts';
import { createAttempts } from '../../auth/accounts/attempts.ts';
import { migrateClients } from '../../auth/clients/client-table.ts';
import { type Clients, createClients } from '../../auth/clients/clients.ts';
import { registrationRoutes } from '../../auth/clients/registration.ts';
import { clientRoutes } from '../../auth/clients/routes.ts';
import { createSecurityLog } from '../../auth/security/security-log.ts';
import { createKeyedWrites, type KeyedWrites } from '../../auth/storage/keyed-writes.ts';
import { createRecordSeal } from '../../auth/storage/seal-record.ts';
import { migrateAuthStorage } from '../../auth/storage/statements.ts';
import { type Served, serveRoutes } from '../serve.ts';
import { createTokenMint, type TokenMint } from '../token-mint.ts';
import { type CommandSide, createCommandDatabase } from './command-side.ts';
import { demandDocumented } from './documented.ts';
import { SCOPES } from './policy.ts';
import { openMintedResource } from './token-verification.ts';

export type ClientApi = AsyncDisposable & {
  readonly side: CommandSide;
  readonly clients: Clients;
  readonly keyedWrites: KeyedWrites;
  readonly rowProofs: RowProofs;
  readonly server: Served;
  readonly mint: TokenMint;
};

/** The routes of the auth role, behind the real verification of tokens, on a real command side. */
const createClientApi = async (): Promise<ClientApi> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase());
  const side = opening.use(await database.open());
  const { pool, eventLog, codec } = side;
  await migrateClients(pool);
  await migrateAuthStorage(pool);
  await migrate(pool, 'auth-accounts', new URL('../../auth/persons/migrations/', import.meta.url));
  const mint = await createTokenMint();
  const resource = opening.use(await openMintedResource({ pool, loadKeys: async () => mint.jwks }));
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const rowProofs = createRowProofs({ masterKey, log: pino({ level: 'silent' }) });
  const clients = createClients({
    domain: publishing,
    pool,
    rowProofs,
    clock: side.clock,
    gateway: side,
    eventLog,
    persons: { register: async () => {} },
    record: createSecurityLog({ eventLog, codec, domain: publishing }),
    onEnded: async () => {},
  });
  const attempts = createAttempts({ pool, masterKey });
  const keyedWrites = createKeyedWrites({ pool, seal: createRecordSeal(masterKey) });
  const me = (request: Request) => ({ kind: resource.callerOf(request).kind });
  const routes = Router()
    .use(
      resource.handler,
      clientRoutes({ domain: publishing, clients, keyedWrites, bodyBytesMax: 10_000 }),
      registrationRoutes({ domain: publishing, clients, attempts }),
    )
    .get('/me', (request, response) => void response.json(me(request)));
  const server = opening.use(await serveRoutes(routes));
  const resources = opening.move();
  const made = { side, clients, keyedWrites, rowProofs, server, mint };
  return { ...made, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

export const MANAGER = { role: 'admin', scope: SCOPES.join(' '), client_id: 'console' };
export const SERVICE = {
  name: 'Importer',
  grantTypes: ['client_credentials'],
  tokenEndpointAuthMethod: 'client_secret_basic',
};
export const WEB = {
  name: 'Web',
  grantTypes: ['authorization_code'],
  redirectUris: ['https://app.example/callback'],
};

type Sent = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly claims?: Readonly<Record<string, unknown>> | null;
};

const sendTo = async (
  api: ClientApi,
  method: string,
  path: string,
  { body, headers = {}, claims = MANAGER }: Sent = {},
) => {
  const authorization = claims === null ? {} : { Authorization: `Bearer ${await api.mint.token(claims)}` };
  const response = await fetch(`${api.server.url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...authorization,
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // Every answer with a body is JSON.
  const answered = (text === '' ? null : JSON.parse(text)) as Record<string, unknown>;
  demandDocumented({ method, path, status: response.status, body: answered });
  return { status: response.status, headers: response.headers, body: answered };
};

const createAt = async (api: ClientApi, settings: object = SERVICE) => {
  const { status, body } = await sendTo(api, 'POST', '/clients', { body: settings });
  expect(status).toBe(201);
  return body as { clientId: string; secret: string; serviceAccount: number };
};

const clientEventsOf = async (api: ClientApi, clientId: string) => {
  const types: unknown[] = [];
  for await (const page of api.side.eventLog.read(`client-${clientId}` as StreamName)) {
    for (const event of await api.side.codec.decodeAll(page))
      types.push({ type: event.type, data: event.data, actor: event.metadata.actor });
  }
  return types;
};

export type Send = (method: string, path: string, sent?: Sent) => ReturnType<typeof sendTo>;

/** A server of the client routes for each file, with functions that send requests to it. */
export const test = base
  .extend('openApi', { scope: 'file' }, () => createClientApi)
  .extend('api', { scope: 'file' }, async ({ openApi }, { onCleanup }) => {
    const api = await openApi();
    onCleanup(() => api[Symbol.asyncDispose]());
    return api;
  })
  .extend(
    'send',
    { scope: 'file' },
    ({ api }): Send =>
      (...what) =>
        sendTo(api, ...what),
  )
  .extend(
    'create',
    { scope: 'file' },
    ({ api }) =>
      (settings?: object) =>
        createAt(api, settings),
  )
  .extend(
    'eventsOf',
    { scope: 'file' },
    ({ api }) =>
      (clientId: string) =>
        clientEventsOf(api, clientId),
  );
