import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Counter, Gauge, type Registry } from 'prom-client';
import { HttpProblem } from './http-problem.ts';
import { requestFact } from './request-fact.ts';

export type LoadLimits = {
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

/**
 * Refuses at once (503) what could not be answered soon, so that what has been begun is answered in time and memory stays bounded.
 * Refusing costs little, so that the process recovers by itself however many ask.
 */
export const openLoadShedder = ({ requestsMax, lagMaxMs }: LoadLimits, metrics: Registry): LoadShedder => {
  const load = { requests: 0 };
  const lag = watchLag(PAUSE_COUNTS * lagMaxMs);
  const refused = observe(metrics, load);
  const refuse = (reason: 'requests' | 'lag'): HttpProblem => {
    refused.inc({ reason });
    return new HttpProblem('overloaded', { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
  };
  return {
    handler(request, response, next) {
      if (load.requests >= requestsMax) throw refuse('requests');
      if (lag.ms() > lagMaxMs) throw refuse('lag');
      load.requests += 1;
      let isIn = true;
      const leave = () => {
        if (isIn) load.requests -= 1;
        isIn = false;
      };
      leaving.set(request, leave);
      response.once('close', leave);
      next();
    },
    [Symbol.dispose]: () => lag[Symbol.dispose](),
  };
};

/** A request has become a stream, which lasts. */
export const countNoLonger = (request: IncomingMessage): void => leaving.of(request)?.();

/** How late timers are, smoothed over about a second. */
const watchLag = (tickMaxMs: number): Disposable & { ms(): number } => {
  let [expectedAtMs, lagMs] = [performance.now() + TICK_MS, 0];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagMs += WEIGHT * (Math.min(tickMaxMs, Math.max(0, nowMs - expectedAtMs)) - lagMs);
    expectedAtMs = nowMs + TICK_MS;
  }, TICK_MS).unref();
  return { ms: () => lagMs, [Symbol.dispose]: () => clearInterval(timer) };
};

const REFUSED = 'annals_http_requests_shed_total';

/** A process with two listeners counts both in one metric. */
const observe = (registry: Registry, load: { readonly requests: number }): Counter<'reason'> => {
  const known = registry.getSingleMetric(REFUSED) as Counter<'reason'> | undefined;
  if (known) return known;
  new Gauge({
    name: 'annals_http_requests_in_flight',
    help: 'Requests that are being answered, without streams.',
    registers: [registry],
    collect() {
      this.set(load.requests);
    },
  });
  return new Counter({
    name: REFUSED,
    help: 'Requests refused because the process had too much to do: so many were in the works, or the event loop was late.',
    labelNames: ['reason'],
    registers: [registry],
  });
};
