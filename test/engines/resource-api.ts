import { Router } from 'express';
import { test as base } from 'vitest';
import { assertCaller } from '#edge/command-gateway/wire.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { serveRoutes } from '../serve.ts';
import { createProofMint, createTokenMint, type TokenMint } from '../token-mint.ts';
import { createDatabase } from './database.ts';
import { openMintedResource } from './token-verification.ts';

/** A process that verifies tokens, on connections of its own. */
type ResourceProcess = AsyncDisposable & { readonly url: string; readonly pool: Pool };

/** `/me` returns the caller; `/signed-in` and `/scoped` refuse everybody. */
export const openResourceProcess = async (
  databaseUrl: string,
  loadKeys: () => Promise<unknown>,
  clock: Clock = REAL_TIME,
): Promise<ResourceProcess> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openPool({ url: databaseUrl, applicationName: 'test', connectionsMax: 8 }));
  const resource = opening.use(await openMintedResource({ pool, loadKeys, clock }));
  const routes = Router()
    .use(resource.handler)
    .all('/me', (request, response) => {
      const caller = resource.callerOf(request);
      response.json(assertCaller(caller));
    })
    .get('/signed-in', () => {
      throw new Rejection('unauthenticated');
    })
    .get('/scoped', () => {
      throw new Rejection('insufficient_scope', { scope: 'write:articles' });
    });
  const server = opening.use(await serveRoutes(routes));
  const resources = opening.move();
  return { url: server.url, pool, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

type ResourceAnswer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly challenge: string | null;
};

export type ResourceApi = AsyncDisposable & {
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly url: string;
  readonly mint: TokenMint;
  get(headers: Readonly<Record<string, string>>, path?: string, base?: string): Promise<ResourceAnswer>;
};

/** A database of its own with one process on it, and the signer of its tokens. */
export const createResourceApi = async (clock?: Clock): Promise<ResourceApi> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const mint = await createTokenMint();
  const { url, pool } = opening.use(await openResourceProcess(database.url, async () => mint.jwks, clock));
  const resources = opening.move();
  return {
    databaseUrl: database.url,
    pool,
    url,
    mint,
    async get(headers, path = '/me', base = url) {
      const response = await fetch(`${base}${path}`, { headers });
      return {
        status: response.status,
        body: (await response.json()) as Readonly<Record<string, unknown>>,
        challenge: response.headers.get('www-authenticate'),
      };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A process that verifies tokens for each file, with the signers of tokens and of their DPoP proofs. */
export const test = base
  .extend('openApi', { scope: 'file' }, () => () => createResourceApi())
  .extend('api', { scope: 'file' }, async ({ openApi }, { onCleanup }) => {
    const api = await openApi();
    onCleanup(() => api[Symbol.asyncDispose]());
    return api;
  })
  .extend('get', { scope: 'file' }, ({ api }) => api.get)
  .extend('mint', { scope: 'file' }, ({ api }) => api.mint)
  .extend('holder', { scope: 'file' }, () => createProofMint());
