import { dirname } from 'node:path';
import { Router } from 'express';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { Health } from '#edge/http/health.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { loadAdditions } from '#process/part.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { cursorOf } from '#shared/event-log/own-cursor.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { commandRoutes } from '../../command/routes.ts';
import { ALL_PARTS } from '../../parts.ts';
import { startEventIndex } from '../../projector/role.ts';
import { startProjector } from '../../projector/service.ts';
import { startChain } from '../../proof/chain/follow-chain.ts';
import { startQueryService } from '../../query/service.ts';
import { type Reply, restClientOf } from '../../testing/http/rest-client.ts';
import { serveRoutes } from '../serve.ts';
import {
  as,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  registerUser,
} from './command-side.ts';
import { demandDocumented } from './documented.ts';
import { createPublishingDatabase } from './migrated-database.ts';
import { type Bearer, openTokenVerification } from './token-verification.ts';

/** A caller; by default with all scopes. */
export type Asker = Bearer & { readonly id: UserId; readonly role: Role };
const ANONYMOUS = null;

type Asked = {
  readonly by?: Asker | null;
  readonly method?: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Both sides of an installation as clients reach them, with a projector between. */
export type Backend = AsyncDisposable & {
  readonly side: CommandSide;
  readonly url: string;
  /** How many statements the query side has sent. */
  readonly statements: () => number;
  /** Registers somebody. */
  person(role: Role, name?: string): Promise<Asker>;
  /** `claims` add to those of the caller, or replace them. */
  authorization(by: Asker | null, claims?: object): Promise<Record<string, string>>;
  /** Reads by default, and then sees everything that has been written so far. */
  ask(path: string, asked?: Asked): Promise<Reply>;
  stopProjector(): Promise<void>;
  startProjector(): Promise<void>;
  /** Follows the log with the index of events, and with the chain of hashes. */
  startIndex(): Promise<AsyncDisposable>;
  startChain(onHead?: (note: string) => void): Promise<AsyncDisposable>;
};

type Options = {
  readonly visibleWithinMs?: number;
  readonly creatorWaitsMs?: number;
  /** Instead of an empty one; it outlives this. */
  readonly on?: Pick<CommandDatabase, 'open'>;
};

export const openBackend = async (
  settings: Readonly<Record<string, string>> = {},
  { on, ...options }: Options = {},
): Promise<Backend> => {
  await using opening = new AsyncDisposableStack();
  const database =
    on ?? opening.use(await createCommandDatabase({ createDatabase: createPublishingDatabase }));
  const side = opening.use(await database.open());
  const notifier = opening.use(openReadModelNotifier({ ...side, url: side.databaseUrl }));
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  let projector: AsyncDisposable | undefined;
  const start = async () => {
    projector ??= await startProjector({ ...side, notifier, log, metrics: createMetrics() });
  };
  const stop = async () => {
    await projector?.[Symbol.asyncDispose]();
    projector = undefined;
  };
  await start();
  opening.defer(stop);
  let statements = 0;
  const pool = new Proxy(side.pool, {
    get(target, property) {
      if (property === 'query') statements += 1;
      const value = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { authorization, resource } = await openTokenVerification({ pool: side.pool, log });
  opening.use(resource);
  const observed = { health: new Health(log), metrics: createMetrics(), access: resource };
  const changes = opening.use(openPostgresChangeStream({ ...side, notifier }));
  const query = opening.use(
    await startQueryService(
      {
        ...{ ...side, domain: publishing, gateway: side, pool, changes, notifier, log, ...observed },
        config: loadConfig(settings),
        ...options,
      },
      await loadAdditions(ALL_PARTS, 'query'),
    ),
  );
  const writes = commandRoutes({
    domain: publishing,
    gateway: side,
    blobs: side.blobs,
    readWritten: query.readWritten,
    requireIfMatch: false,
    bodyBytesMax: 1_000_000,
  });
  const { url } = opening.use(
    await serveRoutes(
      Router().use(resource.handler, resourcePaths(publishing), writes, query.routes),
      ...query.refusals,
    ),
  );
  const send = restClientOf({ url });
  const resources = opening.move();
  return {
    side,
    url,
    statements: () => statements,
    person: async (role, name = `A ${role}`) => ({ id: await registerUser(side, { name, role }), role }),
    authorization,
    async ask(path, { by = ANONYMOUS, method = 'GET', headers, ...rest } = {}) {
      const token = formatCursor(side.eventLog.identity, await side.eventLog.head());
      const isRead = method === 'GET' || method === 'HEAD';
      const sent = {
        ...(isRead && { 'consistency-token': token }),
        ...(await authorization(by)),
        ...headers,
      };
      const reply = await send(method, path, { ...rest, headers: sent });
      demandDocumented({ method, path, ...reply });
      return reply;
    },
    stopProjector: stop,
    startProjector: start,
    startIndex: () => startEventIndex({ ...side, log, metrics: createMetrics() }),
    startChain: (onHead = () => {}) =>
      startChain({ ...side, onHead, auditDir: dirname(side.erasures.path), log, metrics: createMetrics() }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/**
 * A backend for each file, with two authors, a reader and an administrator, registered when a test asks for
 * them.
 */
export const test = base
  .extend('backendSettings', { scope: 'file' }, {} as Parameters<typeof openBackend>[0])
  .extend('backendOptions', { scope: 'file' }, {} as Options)
  .extend('backend', { scope: 'file' }, async ({ backendSettings, backendOptions }, { onCleanup }) => {
    const backend = await openBackend(backendSettings, backendOptions);
    onCleanup(() => backend[Symbol.asyncDispose]());
    return backend;
  })
  .extend('author', { scope: 'file' }, ({ backend }) => backend.person('author', 'Ada'))
  .extend('stranger', { scope: 'file' }, ({ backend }) => backend.person('author', 'Grace'))
  .extend('reader', { scope: 'file' }, ({ backend }) => backend.person('reader', 'Rita'))
  .extend('admin', { scope: 'file' }, ({ backend }) => backend.person('admin', 'Nora'))
  /** Writes by REST, and returns the id of the item. */
  .extend(
    'write',
    { scope: 'file' },
    ({ backend }) =>
      async (by: Asker, method: string, path: string, body?: object): Promise<number> => {
        const reply = await backend.ask(path, { by, method, body });
        expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
        return (reply.body as { readonly id: number }).id;
      },
  )
  /** Sends a command past the API. */
  .extend(
    'send',
    { scope: 'file' },
    ({ backend: { side } }) =>
      (command: Parameters<CommandSide['send']>[0], { id, role }: Asker) =>
        side.send(command, by(as(id, role))),
  )
  .extend('cursorNow', { scope: 'file' }, ({ backend: { side } }) => async () => {
    const head = await side.eventLog.head();
    return cursorOf(side.eventLog, head, await side.eventLog.eventAt(head));
  });
