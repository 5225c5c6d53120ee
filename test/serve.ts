import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { createApp } from '#edge/http/app.ts';
import { type HttpServer, startHttpServer } from '#edge/http/server.ts';
import type { TlsFiles } from '#edge/http/tls-files.ts';
import type { Config } from '#process/config.ts';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Log } from '#shared/log.ts';

/** A server on a free port, with the real limits by default, whose log is kept. */
export type Served = HttpServer & { readonly logged: () => string };

export const captureLog = (): { readonly log: Log; readonly logged: () => string } => {
  const written: string[] = [];
  // Each line is of another minute, so that none of an outage is left out.
  let minutes = 0;
  const log = createLog({
    level: 'debug',
    elapsedMs: () => {
      minutes += 1;
      return minutes * 60_000;
    },
    destination: { write: (line: string) => void written.push(line) },
  });
  const text = () => written.join('');
  return { log, logged: text };
};

type ServeOptions = {
  readonly limits?: Partial<Config['limits']>;
  readonly drainMs?: number;
  readonly tls?: TlsFiles;
};

export const serve = async (
  handler: RequestListener,
  { limits, drainMs = 5_000, tls }: ServeOptions = {},
): Promise<Served> => {
  const { log, logged } = captureLog();
  const config = loadConfig({});
  const server = await startHttpServer({
    clock: REAL_TIME,
    handler,
    listener: { port: 0, host: '127.0.0.1' },
    setting: 'PORT',
    tls,
    limits: { ...config.limits, ...limits },
    drainMs,
    log,
  });
  return { ...server, logged };
};

export const serveRoutes = async (
  ...routes: readonly (RequestHandler | ErrorRequestHandler)[]
): Promise<Served> => {
  const { log, logged } = captureLog();
  const server = await serve(createApp({ log, metrics: createMetrics(), routes }));
  return { ...server, logged };
};
