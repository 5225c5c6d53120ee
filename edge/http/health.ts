import { setTimeout as delay } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { HealthCheck, HealthChecks } from '#shared/health-checks.ts';
import type { Log } from '#shared/log.ts';
import { NotReady } from '#shared/not-ready.ts';
import { refuseOtherMethods } from './answer-errors.ts';
import { createRouteTable } from './route-table.ts';

type Outcome = 'pass' | 'fail';
export type Readiness = {
  readonly status: 'ready' | 'not ready' | 'draining';
  readonly checks: Readonly<Record<string, Outcome>>;
  /** Public reasons, by the name of the check. */
  readonly reasons?: Readonly<Record<string, string>>;
};

const CHECK_TIMEOUT_MS = 2_000;

type Check = { readonly run: HealthCheck; readonly isRequired: boolean };

/** Whether this process can do its work: it is not stopping, and every required check passes in time. */
export class Health implements HealthChecks {
  readonly #checks = new Map<string, Check>();
  readonly #log: Log;
  readonly #timeoutMs: number;
  /** The logged messages of optional checks that fail, so that each probe does not repeat them. */
  readonly #shown = new Map<string, string>();
  readonly #onDrain: (() => void)[] = [];
  #draining = false;
  #running: Promise<Readiness> | undefined;

  constructor(log: Log, timeoutMs: number = CHECK_TIMEOUT_MS) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** An optional check is shown, but does not affect readiness. */
  add(name: string, run: HealthCheck, { isRequired = true } = {}): void {
    this.#checks.set(name, { run, isRequired });
  }

  /** Called when the process begins to stop: for work that would otherwise go on until it is cut off. */
  onDrain(callback: () => void): void {
    this.#onDrain.push(callback);
  }

  /**
   * From now on the process says that it is stopping, so that a load balancer sends it no new requests;
   * unless another has replaced it at this address.
   */
  drain({ isReplaced = false } = {}): void {
    this.#draining = !isReplaced;
    for (const callback of this.#onDrain.splice(0)) callback();
  }

  /** Concurrent requests share one run, so that frequent requests cause no extra work. */
  async readiness(): Promise<Readiness> {
    if (this.#draining) return { status: 'draining', checks: {} };
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<Readiness> {
    const outcomes = await Promise.all(
      [...this.#checks].map(async ([name, { run }]) => [name, await this.#try(name, run)] as const),
    );
    const canWork = outcomes.every(
      ([name, outcome]) => outcome === 'pass' || this.#checks.get(name)?.isRequired === false,
    );
    const status = canWork ? 'ready' : 'not ready';
    const checks = outcomes.map(([name, outcome]) => [name, outcome === 'pass' ? 'pass' : 'fail'] as const);
    const reasons = outcomes.flatMap(([name, outcome]) =>
      outcome instanceof NotReady ? [[name, outcome.message] as const] : [],
    );
    return {
      status,
      checks: Object.fromEntries(checks),
      ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) }),
    };
  }

  #isNew(name: string, error: unknown): boolean {
    if (this.#checks.get(name)?.isRequired !== false) return true;
    const message = String(error);
    if (this.#shown.get(name) === message) return false;
    this.#shown.set(name, message);
    return true;
  }

  /** The reason of a failed check goes only to the log: the message of a driver may name hosts and users. */
  async #try(name: string, check: HealthCheck): Promise<Outcome | NotReady> {
    const waiting = new AbortController();
    const late = delay(this.#timeoutMs, undefined, { signal: waiting.signal }).then(() => {
      throw new Error(`no answer within ${this.#timeoutMs} ms`);
    });
    try {
      await Promise.race([check(waiting.signal), late]);
      this.#shown.delete(name);
      return 'pass';
    } catch (error) {
      if (this.#isNew(name, error)) this.#log.warn({ err: error, check: name }, 'A readiness check fails.');
      return error instanceof NotReady ? error : 'fail';
    } finally {
      late.catch(() => {});
      waiting.abort();
    }
  }
}

export const healthRoutes = (health: Health): RequestHandler => {
  const table = createRouteTable();
  const others = refuseOtherMethods('GET', 'HEAD');
  table
    .routerOf('/livez')
    .get('/livez', (_request, response) => {
      response.set('Cache-Control', 'no-store').json({ status: 'alive' });
    })
    .all('/livez', others);
  table
    .routerOf('/readyz')
    .get('/readyz', async (_request, response) => {
      const readiness = await health.readiness();
      response
        .status(readiness.status === 'ready' ? 200 : 503)
        .set('Cache-Control', 'no-store')
        .json(readiness);
    })
    .all('/readyz', others);
  return table.handler;
};
