import type { RequestListener } from 'node:http';
import { Router } from 'express';
import { pino } from 'pino';
import { publishing } from '#domain/publishing.ts';
import { openResourceServer } from '#edge/authenticate/resource-server.ts';
import { createApp } from '#edge/http/app.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { serve } from '../serve.ts';
import { type AuthDatabase, type AuthInstance, ISSUER } from './auth-database.ts';
import { databaseTest } from './auth-fixture.ts';

export type AuthProcess = AsyncDisposable & {
  readonly auth: AuthInstance;
  readonly url: string;
  readonly handler: RequestListener;
};

/** The ingress's secret beside a client's certificate. */
export const INGRESS_SECRET = 'ingress-secret-of-the-tests';

const settings = { TRUST_PROXY: '1', CLIENT_CERT_SECRET: INGRESS_SECRET, REGISTRATION: 'on' };

/** The auth role with its own verification of tokens, as in a process. */
export const openAuthProcess = async (
  database: AuthDatabase,
  clock: Clock = REAL_TIME,
): Promise<AuthProcess> => {
  await using opening = new AsyncDisposableStack();
  const auth = opening.use(await database.open({ settings, clock }));
  const log = pino({ level: 'silent' });
  const { loadKeys, elsewhere } = auth.service;
  const options = {
    pool: auth.pool,
    eventLog: auth.eventLog,
    keys: auth.keys,
    rowProofs: auth.rowProofs,
    clock,
    domain: publishing,
    log,
    issuer: ISSUER,
    audience: ISSUER,
    ingressSecret: INGRESS_SECRET,
    loadKeys,
    elsewhere,
  };
  const resource = opening.use(await openResourceServer(options));
  const handler = createApp({
    log,
    metrics: createMetrics(),
    routes: [Router().use(resource.handler), auth.service.routes],
    trustProxy: 1,
  });
  const server = opening.use(await serve(handler));
  const resources = opening.move();
  return { auth, url: server.url, handler, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** A database for each file, with two processes of the auth role. Each starts when a test asks for it. */
export const test = databaseTest
  .extend('one', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const one = await openAuthProcess(database);
    onCleanup(() => one[Symbol.asyncDispose]());
    return one;
  })
  .extend('other', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const other = await openAuthProcess(database);
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  });
