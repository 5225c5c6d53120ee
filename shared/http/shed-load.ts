import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Counter, Gauge, type Registry } from 'prom-client';
import { HttpProblem } from './http-problem.ts';
import { requestFact } from './request-fact.ts';
import { createSlowClients, type SlowClientLimits, type SlowClients } from './slow-clients.ts';

export type LoadLimits = SlowClientLimits & {
  /** How many requests may be in the works at once; streams do not count, they have limits of their own. */
  readonly requestsMax: number;
  /** How late the event loop may steadily be. */
  readonly lagMaxMs: number;
};

export type LoadShedder = Disposable & { readonly handler: RequestHandler };

const TICK_MS = 100;
/** Of each tick in the lag that counts. */
const WEIGHT = 0.2;
/** One pause, however long, is no overload: it counts as this many times the lag that is too much. */
const PAUSE_COUNTS = 2;
const RETRY_AFTER_SECONDS = '1';

const leaving = requestFact<() => void>('in the works');
const rooms = requestFact<(bytes: number) => void>('room for the answer');

/**
 * Refuses at once (503) what could not be answered soon, so that what has been begun is answered in time and
 * memory stays bounded. Refusing costs little, so that the process recovers by itself however many ask. Where
 * all places are taken, whoever only keeps one waiting loses it, so that a thousand clients who send a byte
 * at a time, or take one, do not keep out all others.
 */
export const openLoadShedder = (limits: LoadLimits, metrics: Registry): LoadShedder => {
  const { requestsMax, lagMaxMs } = limits;
  const { refused, cut, watch } = observe(metrics);
  const clients = createSlowClients(limits, () => cut.inc());
  const load = { requests: 0, clients };
  const unwatch = watch(load);
  const lag = watchLag(PAUSE_COUNTS * lagMaxMs, clients.look);
  const refuse = (reason: 'requests' | 'lag' | 'bytes'): HttpProblem => {
    refused.inc({ reason });
    return new HttpProblem('overloaded', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
  };
  return {
    handler(request, response, next) {
      if (load.requests >= requestsMax && !clients.makeRoom()) throw refuse('requests');
      if (lag.ms() > lagMaxMs) throw refuse('lag');
      load.requests += 1;
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
 * To be asked before a large answer is sent: where so much is on its way to others that it would not find
 * room, the request is refused.
 */
export const demandRoom = (request: IncomingMessage, bytes: number): void => {
  if (bytes >= LARGE_BYTES) rooms.of(request)?.(bytes);
};

/** As many smaller answers as requests are taken at once find room in any case. */
const LARGE_BYTES = 16_384;

/** A request has become a stream, which lasts. */
export const countNoLonger = (request: IncomingMessage): void => leaving.of(request)?.();

/** How late timers are, smoothed over about a second. */
const watchLag = (tickMaxMs: number, onTick: () => void): Disposable & { ms(): number } => {
  let [expectedAtMs, lagMs] = [performance.now() + TICK_MS, 0];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagMs += WEIGHT * (Math.min(tickMaxMs, Math.max(0, nowMs - expectedAtMs)) - lagMs);
    expectedAtMs = nowMs + TICK_MS;
    onTick();
  }, TICK_MS).unref();
  return { ms: () => lagMs, [Symbol.dispose]: () => clearInterval(timer) };
};

type Load = { readonly requests: number; readonly clients: Pick<SlowClients, 'bytes'> };

type Observed = {
  readonly refused: Counter<'reason'>;
  readonly cut: Counter;
  /** Counts a load in until the answer is called. */
  watch(load: Load): () => void;
};

const observed = new WeakMap<Registry, Observed>();

/** A process with two listeners counts both in one metric. */
const observe = (registry: Registry): Observed => {
  const made = observed.get(registry) ?? observeIn(registry);
  observed.set(registry, made);
  return made;
};

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
    'Requests that are being answered, without streams.',
    ({ requests }) => requests,
  );
  gauge(
    'annals_http_client_bytes',
    'What waits of bodies that are still coming, and of answers not taken yet.',
    ({ clients }) => clients.bytes,
  );
  return {
    refused: new Counter({
      name: 'annals_http_requests_shed_total',
      help: 'Requests refused because the process had too much to do: so many were in the works, the event loop was late, or so many bytes of answers were on their way.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    cut: new Counter({
      name: 'annals_http_slow_clients_cut_total',
      help: 'Clients cut off while they sent a body or took an answer slowly, because the place or the memory was needed.',
      registers: [registry],
    }),
    watch(load) {
      loads.add(load);
      return () => void loads.delete(load);
    },
  };
};
