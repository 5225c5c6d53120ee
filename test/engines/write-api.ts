import { type RequestHandler, Router } from 'express';
import { pino } from 'pino';
import { test as base } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createApp } from '#edge/http/app.ts';
import type { Authentication } from '#edge/http/limit-rate.ts';
import type { HttpLimits } from '#edge/http/server.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { commandRoutes } from '../../command/routes.ts';
import { serve } from '../serve.ts';
import { createTokenMint } from '../token-mint.ts';
import { type CommandSide, createCommandDatabase, registerUser } from './command-side.ts';
import { demandDocumented } from './documented.ts';
import { SCOPES } from './policy.ts';
import { bearer } from './resource-api.ts';
import { openMintedResource } from './token-verification.ts';

export type WriteAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Written = {
  /** Sent as JSON, unless it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The sender; `null` is anonymous. */
  readonly by?: { readonly id: UserId; readonly role: string; readonly scope?: string } | null;
};

/** The command role as clients reach it, with an author, a reader and an administrator. */
export type WriteApi = AsyncDisposable & {
  readonly side: CommandSide;
  readonly uploads: string;
  readonly url: string;
  readonly author: Person;
  readonly reader: Person;
  readonly admin: Person;
  token(by: Person): Promise<string>;
  /** By the author by default. */
  send(method: string, path: string, written?: Written): Promise<WriteAnswer>;
};
type Person = { readonly id: UserId; readonly role: 'reader' | 'author' | 'admin'; readonly scope?: string };

type Options = {
  readonly requireIfMatch?: boolean;
  readonly bodyBytesMax?: number;
  readonly limits?: Partial<HttpLimits>;
  readonly wrap?: (log: EventLog) => EventLog;
  /** Middleware before the routes, instead of the verification of tokens only. */
  readonly admit?: (authentication: Authentication) => RequestHandler;
};

export const createWriteApi = async ({
  requireIfMatch = false,
  bodyBytesMax = 1_048_576,
  limits = {},
  wrap,
  admit = ({ handler }) => handler,
}: Options = {}): Promise<WriteApi> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase());
  const side = opening.use(await database.open({ wrapLog: wrap }));
  const { blobs, uploads } = side;
  const mint = await createTokenMint();
  const resource = opening.use(
    await openMintedResource({ pool: side.pool, loadKeys: async () => mint.jwks }),
  );
  const routes = Router().use(
    admit(resource),
    resourcePaths(publishing),
    commandRoutes({ domain: publishing, gateway: side, blobs, requireIfMatch, bodyBytesMax }),
  );
  const handler = createApp({ log: pino({ level: 'silent' }), metrics: createMetrics(), routes: [routes] });
  const { url } = opening.use(await serve(handler, { limits }));
  const person = async (role: Person['role']): Promise<Person> => ({
    id: await registerUser(side, { name: `A ${role}`, role }),
    role,
  });
  const author = await person('author');
  const token = ({ id, role, scope = SCOPES.join(' ') }: NonNullable<Written['by']>) =>
    mint.token({ sub: String(id), role, scope });
  const resources = opening.move();
  return {
    side,
    uploads,
    url,
    author,
    reader: await person('reader'),
    admin: await person('admin'),
    token,
    async send(method, path, { body, headers = {}, by = author } = {}) {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(by === null ? {} : bearer(await token(by))),
          ...headers,
        },
        ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
      });
      const text = await response.text();
      const answered = (text === '' ? {} : JSON.parse(text)) as WriteAnswer['body'];
      demandDocumented({ method, path, status: response.status, body: answered });
      return { status: response.status, headers: response.headers, body: answered };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The command role for each file. */
export const test = base
  .extend('writeOptions', { scope: 'file' }, {} as Options)
  .extend('api', { scope: 'file' }, async ({ writeOptions }, { onCleanup }) => {
    const api = await createWriteApi(writeOptions);
    onCleanup(() => api[Symbol.asyncDispose]());
    return api;
  })
  .extend('send', { scope: 'file' }, ({ api }) => api.send);

/** Posts and returns the id. */
export const make = async (
  api: WriteApi,
  path: string,
  body: unknown,
  by?: Written['by'],
): Promise<number> => {
  const answer = await api.send('POST', path, { body, ...(by !== undefined && { by }) });
  if (answer.status !== 201)
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return Number(answer.body.id);
};

export const ARTICLE = { title: 'On engines', body: 'An *analytical* one.', tags: ['engines'] };
