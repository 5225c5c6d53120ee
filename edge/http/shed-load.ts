import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { oncePer } from '#kernel/base/once-per.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import { requestFact } from './request-fact.ts';
import { createSlowClients, type SlowClientLimits, type SlowClients } from './slow-clients.ts';

export type LoadLimits = SlowClientLimits & {
  /** The maximum of concurrent requests; streams do not count, because they have limits of their own. */
  readonly requestsMax: number;
  /** The maximum steady lag of the event loop. */
  readonly lagMaxMs: number;
};

type LoadShedder = Disposable & { readonly handler: RequestHandler };

const TICK_MS = 100;
/** The weight of one tick in the moving average of the lag. */
const WEIGHT = 0.2;
/** One pause, however long, is no overload: a tick counts at most this many times `lagMaxMs`. */
const PAUSE_COUNTS = 2;
const RETRY_AFTER_SECONDS = '1';

const leaving = requestFact<() => void>('in progress');
const rooms = requestFact<(bytes: number) => void>('room for the answer');

/**
 * Refuses requests at once (503) that could not be answered soon, so that the accepted ones are answered in
 * time and memory stays bounded. Refusing is cheap, so the process recovers by itself under any load. If
 * every place is taken, the slowest client loses its place, so that a thousand clients that send or receive
 * byte by byte do not keep out all others.
 */
export const openLoadShedder = (limits: LoadLimits, metrics: Registry): LoadShedder => {
  const { requestsMax, lagMaxMs } = limits;
  const { refused, cut, watch } = observe(metrics);
  const clients = createSlowClients(limits, () => cut.inc());
  const load = { requests: 0, clients };
  const unwatch = watch(load);
  const lag = watchLag(PAUSE_COUNTS * lagMaxMs, () => {
    clients.look();
    return load.requests > 0;
  });
  const refuse = (reason: 'requests' | 'lag' | 'bytes'): HttpProblem => {
    refused.inc({ reason });
    return new HttpProblem('overloaded', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
  };
  return {
    handler(request, response, next) {
      if (load.requests >= requestsMax && !clients.makeRoom()) throw refuse('requests');
      if (lag.ms() > lagMaxMs) throw refuse('lag');
      load.requests += 1;
      lag.watch();
      let isIn = true;
      const leave = () => {
        if (isIn) load.requests -= 1;
        isIn = false;
        clients.delete(client);
      };
      const client = clients.enter({ request, response, leave });
      leaving.set(request, leave);
      rooms.set(request, (bytes) => {
        if (!clients.promise(client, bytes)) throw refuse('bytes');
      });
      response.on('close', leave);
      next();
    },
    [Symbol.dispose]() {
      lag[Symbol.dispose]();
      unwatch();
    },
  };
};

/**
 * To be called before a large response is sent: refuses the request if responses under way to other clients
 * leave no room for it.
 */
export const demandRoom = (request: IncomingMessage, bytes: number): void => {
  if (bytes >= LARGE_BYTES) rooms.of(request)?.(bytes);
};

/** Smaller responses always find room, as many as there are concurrent requests. */
const LARGE_BYTES = 16_384;

/** A request has become a stream, which no longer counts. */
export const countNoLonger = (request: IncomingMessage): void => leaving.of(request)?.();

/** A process without requests rests after this time, unless it still lags. */
const QUIET_TICKS = 10;
const QUIET_LAG_MS = 10;

/** The delay of timers, smoothed over about a second, while there are requests. */
const watchLag = (tickMaxMs: number, onTick: () => boolean): Disposable & { ms(): number; watch(): void } => {
  let [expectedAtMs, lagMs, quietTicks] = [0, 0, 0];
  let timer: NodeJS.Timeout | undefined;
  const rest = (): void => {
    clearInterval(timer);
    timer = undefined;
    lagMs = 0;
  };
  const tick = (): void => {
    const nowMs = performance.now();
    lagMs += WEIGHT * (Math.min(tickMaxMs, Math.max(0, nowMs - expectedAtMs)) - lagMs);
    expectedAtMs = nowMs + TICK_MS;
    quietTicks = onTick() ? 0 : quietTicks + 1;
    if (quietTicks >= QUIET_TICKS && lagMs <= QUIET_LAG_MS) rest();
  };
  return {
    ms: () => lagMs,
    watch() {
      quietTicks = 0;
      if (timer !== undefined) return;
      expectedAtMs = performance.now() + TICK_MS;
      timer = setInterval(tick, TICK_MS).unref();
    },
    [Symbol.dispose]: rest,
  };
};

type Load = { readonly requests: number; readonly clients: Pick<SlowClients, 'bytes'> };

type Observed = {
  readonly refused: Counter<'reason'>;
  readonly cut: Counter;
  /** Includes a load until the returned function is called. */
  watch(load: Load): () => void;
};

/** A process with two listeners counts both in one metric. */
const observe = oncePer((registry: Registry): Observed => observeIn(registry));

const observeIn = (registry: Registry): Observed => {
  const loads = new Set<Load>();
  const sumOf = (read: (load: Load) => number): number =>
    [...loads].reduce((sum, load) => sum + read(load), 0);
  const gauge = (name: string, help: string, read: (load: Load) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(sumOf(read));
      },
    });
  gauge(
    'annals_http_requests_in_flight',
    'Requests in progress, without streams.',
    ({ requests }) => requests,
  );
  gauge(
    'annals_http_client_bytes',
    'Bytes buffered for clients: request bodies in transfer, and responses not read yet.',
    ({ clients }) => clients.bytes,
  );
  return {
    refused: new Counter({
      name: 'annals_http_requests_shed_total',
      help: 'Requests refused due to overload: too many requests in progress, a late event loop, or too many bytes buffered for clients.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    cut: new Counter({
      name: 'annals_http_slow_clients_cut_total',
      help: 'Slow clients disconnected to free their connection or memory, while sending a body or reading a response.',
      registers: [registry],
    }),
    watch(load) {
      loads.add(load);
      return () => void loads.delete(load);
    },
  };
};
