import type { Server } from 'node:http';
import type { Log } from '#shared/log.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';

type Options = {
  readonly connectionsMax: number;
  readonly log: Log;
  readonly metrics?: Registry | undefined;
};

const MAKE_ROOM_EVERY_MS = 1_000;
const LOG_EVERY_MS = 10_000;

/**
 * Limits the number of connections, and closes surplus ones immediately. Idle connections make room for new
 * ones, so that many idle ones of one client keep nobody out.
 */
export const limitConnections = (server: Server, { connectionsMax, log, metrics }: Options): void => {
  server.maxConnections = connectionsMax;
  const count = metrics ? observe(metrics, server) : () => {};
  let refused = 0;
  const makeRoom = atMostEvery(MAKE_ROOM_EVERY_MS, () => server.closeIdleConnections());
  const logRefused = atMostEvery(LOG_EVERY_MS, () => {
    log.warn({ connectionsMax, refused }, 'Connections were refused: CONNECTIONS_MAX is reached.');
    refused = 0;
  });
  server.on('drop', () => {
    refused += 1;
    count();
    makeRoom();
    logRefused();
  });
};

const atMostEvery = (intervalMs: number, work: () => void): (() => void) => {
  let doneAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - doneAtMs < intervalMs) return;
    doneAtMs = performance.now();
    work();
  };
};

const OPEN = 'annals_http_connections';

/** Of the server of clients; returns a function that counts a refusal. */
const observe = (registry: Registry, server: Server): (() => void) => {
  new Gauge({
    name: OPEN,
    help: 'Connections of clients that are open.',
    registers: [registry],
    async collect() {
      this.set(await connectionsOf(server));
    },
  });
  const refusals = new Counter({
    name: `${OPEN}_refused_total`,
    help: 'Connections refused because CONNECTIONS_MAX were open.',
    registers: [registry],
  });
  return () => refusals.inc();
};

const connectionsOf = (server: Server): Promise<number> => {
  const { promise, resolve } = Promise.withResolvers<number>();
  server.getConnections((_error, count) => resolve(count ?? 0));
  return promise;
};
