import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { Session } from '../../client/session.ts';
import { chooserOf } from './chooser.ts';
import type { Mix, Part } from './mix.ts';
import { PARTS } from './mix.ts';

/** The result of one step of the load. */
export type Step = {
  readonly connections: number;
  readonly seconds: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Failed answers by status, from 400 on, and `no answer`. */
  readonly failures: Readonly<Record<string, number>>;
  readonly byPart: Readonly<
    Partial<Record<Part, { readonly requests: number; readonly p50Ms: number; readonly p99Ms: number }>>
  >;
  /** The share of time that this program was busy itself: near 1, it measures itself. */
  readonly busy: number;
};

export type Target = { readonly url: string; readonly session: Session; readonly mix: Mix };

const REQUEST_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const MICROSECONDS = 1_000;

/**
 * Sends the mix over a number of connections for a while; each connection sends its next request after the
 * answer to the last.
 */
export const runStep = async (
  target: Target,
  { connections, forMs, signal }: { connections: number; forMs: number; signal: AbortSignal },
): Promise<Step> => {
  const timeouts = {
    connectTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
  };
  const pool = new Pool(new URL(target.url).origin, { connections, pipelining: 1, ...timeouts });
  const tally = newTally();
  const before = performance.eventLoopUtilization();
  const beganMs = performance.now();
  const send = senderOf(target, pool, tally);
  try {
    const client = async () => {
      while (performance.now() - beganMs < forMs && !signal.aborted) await send();
    };
    await Promise.all(Array.from({ length: connections }, client));
  } finally {
    await pool.destroy();
  }
  const seconds = (performance.now() - beganMs) / 1_000;
  return {
    connections,
    seconds,
    ...summaryOf(tally, seconds),
    busy: performance.eventLoopUtilization(before).utilization,
  };
};

type Tally = {
  readonly all: RecordableHistogram;
  readonly byPart: ReadonlyMap<Part, RecordableHistogram>;
  readonly failures: Map<string, number>;
};

const newTally = (): Tally => ({
  all: createHistogram(),
  byPart: new Map(PARTS.map((part) => [part, createHistogram()])),
  failures: new Map(),
});

const summaryOf = ({ all, byPart, failures }: Tally, seconds: number) => {
  const requests = all.count;
  const parts = [...byPart].filter(([, { count }]) => count > 0);
  return {
    requests,
    perSecond: seconds > 0 ? requests / seconds : 0,
    ...{ p50Ms: millisecondsAt(all, 50), p95Ms: millisecondsAt(all, 95), p99Ms: millisecondsAt(all, 99) },
    failures: Object.fromEntries(failures),
    byPart: Object.fromEntries(
      parts.map(([part, times]) => [
        part,
        { requests: times.count, p50Ms: millisecondsAt(times, 50), p99Ms: millisecondsAt(times, 99) },
      ]),
    ),
  };
};

const millisecondsAt = (times: RecordableHistogram, percentile: number): number =>
  times.count === 0 ? 0 : times.percentile(percentile) / MICROSECONDS;

const senderOf = ({ url, session, mix }: Target, pool: Pool, tally: Tally): (() => Promise<void>) => {
  const next = chooserOf(mix);
  const base = new URL(url).pathname.replace(/\/$/, '');
  return async () => {
    const planned = next();
    const { method, path, body } = planned;
    const sentAtMs = performance.now();
    try {
      const authorization = await session.authorize({ method, url: `${url}${path}` });
      const response = await pool.request({
        method: method as 'GET',
        path: base + path,
        headers: {
          ...authorization,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': contentTypeOf(method) }),
        },
        body: body ?? null,
      });
      await response.body.dump({ limit: ANSWER_BYTES_MAX });
      if (response.statusCode >= 400) count(tally.failures, String(response.statusCode));
    } catch {
      count(tally.failures, 'no answer');
    }
    const tookUs = Math.max(1, Math.round((performance.now() - sentAtMs) * MICROSECONDS));
    tally.all.record(tookUs);
    tally.byPart.get(planned.part)?.record(tookUs);
  };
};

const contentTypeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';

const count = (failures: Map<string, number>, name: string): void =>
  void failures.set(name, (failures.get(name) ?? 0) + 1);
