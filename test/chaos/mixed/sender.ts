import { setTimeout as delay } from 'node:timers/promises';
import { type Ask, type Reply, restClientOf } from '../../../testing/http/rest-client.ts';
import { startDeadline } from '../../../testing/load.ts';
import type { Recorder } from './recorder.ts';
import type { Site } from './site.ts';
import type { Tokens } from './tokens.ts';

/** Sends a request until a process answers it. */
export type Sender = (method: string, path: string, ask?: Ask) => Promise<Sent>;

export type Sent = {
  /** Undefined if the time for all attempts is over. */
  readonly reply: Reply | undefined;
  readonly attempts: number;
  /** Whether an earlier attempt may have taken effect without an answer. */
  readonly isUncertain: boolean;
};

/** The timeout of a client before it retries. */
const ATTEMPT_MS = 4_000;
const ALL_ATTEMPTS_MS = 240_000;
const AGAIN_MS = 100;
const UNAUTHENTICATED = 401;
const CONFLICT = 409;
const TOO_MANY = 429;
const BROKEN = 500;

type Options = { readonly site: Pick<Site, 'url'>; readonly recorder: Recorder; readonly tokens?: Tokens };

/** A careful client: with a deadline, a renewed token, and retries of the same request where needed. */
export const createSender = ({ site, recorder, tokens }: Options): Sender => {
  const ask = restClientOf({ url: site.url, fetch: fetchInTime });
  return async (method, path, options = {}) => {
    const deadline = startDeadline(ALL_ATTEMPTS_MS);
    let isUncertain = false;
    for (let attempts = 1; ; attempts += 1) {
      recorder.attempted();
      const held = await tokens?.held();
      const reply = await ask(method, path, { ...options, token: held }).catch((error: Error) =>
        reasonOf(error),
      );
      const why = typeof reply === 'string' ? reply : passing(reply);
      if (typeof reply !== 'string' && why === undefined) return { reply, attempts, isUncertain };
      recorder.failed(`${method} ${why}`);
      if (deadline.isOver()) return { reply: undefined, attempts, isUncertain: true };
      if (typeof reply !== 'string' && reply.status === UNAUTHENTICATED) tokens?.drop(held);
      else isUncertain = true;
      await delay(AGAIN_MS);
    }
  };
};

export const fetchInTime: typeof fetch = (input, init) =>
  fetch(input, { ...init, signal: AbortSignal.timeout(ATTEMPT_MS) });

export const reasonOf = (error: Error): string => {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? cause?.message ?? error.name;
};

type ErrorBody = {
  readonly code?: string;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
};

/** The reason to retry: for GraphQL, the status alone does not show it. Undefined for an answer. */
const passing = ({ status, body }: Reply): string | undefined => {
  const { code, errors } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  const said = code ?? errors?.[0]?.extensions?.code;
  if (status >= BROKEN || status === TOO_MANY || status === UNAUTHENTICATED)
    return `${status} ${said ?? ''}`.trim();
  if (said !== undefined && PASSING.has(said)) return `${status === CONFLICT ? status : 'errors'} ${said}`;
  return undefined;
};

const PASSING = new Set([
  'idempotency_key_in_use',
  'conflict',
  'unavailable',
  'overloaded',
  'internal',
  'rate_limited',
  'parked',
]);
