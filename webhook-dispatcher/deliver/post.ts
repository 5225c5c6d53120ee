import { Agent } from 'undici';
import { oncePer } from '#kernel/base/once-per.ts';
import { checkUrl, type GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { createGuardedConnector } from '#shared/webhooks/guard/guarded-connector.ts';
import { createNameResolver, type ResolveName } from '#shared/webhooks/guard/resolve-name.ts';
import { Exchange, failureInWords, isOurs } from './exchange.ts';

/** Posts to addresses that users choose, and copes with any behaviour. */
export type Poster = AsyncDisposable & {
  /**
   * Any behaviour of the receiver is a result; throws only if the signal is aborted, or if this machine has
   * run out of resources.
   */
  post(request: PostRequest, signal: AbortSignal): Promise<Answer>;
};

export type PostRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type Answer = {
  readonly durationMs: number;
  /** Null if no response came. */
  readonly status: number | null;
  /** A readable reason for the missing response. */
  readonly error: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** As received; compressed content stays compressed. */
  readonly body: Uint8Array | null;
};

type Options = {
  readonly rules: GuardRules;
  /** Covers everything: resolving, connecting, sending, and the response to its end. */
  readonly timeoutMs: number;
  readonly resolveName?: ResolveName;
};

const HEADER_BYTES_MAX = 16_384;
/** Connections to one origin; further requests wait. */
const CONNECTIONS_MAX = 1_000;
/**
 * Shorter than the keep-alive time of common servers, so that few requests meet a connection that is being
 * closed. Those are sent again.
 */
const IDLE_MS = 4_000;
const IDLE_MAX_MS = 30_000;

/** This agent neither follows redirects nor uses proxies. */
export const openPoster = ({ rules, timeoutMs, resolveName = createNameResolver() }: Options): Poster => {
  const agent = new Agent({
    connect: createGuardedConnector({ allowed: rules.allowed, resolveName, timeoutMs }),
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // A single deadline applies, see below.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async post(request, signal) {
      const startedMs = performance.now();
      const answer = (given: Partial<Answer>): Answer => {
        const durationMs = Math.round(performance.now() - startedMs);
        return { ...NO_ANSWER, ...given, durationMs };
      };
      const refusal = checkUrl(request.url, rules);
      if (refusal !== undefined) return answer({ error: `The URL is not allowed here. ${refusal}` });
      const exchange = new Exchange((sent) => send(agent, request, sent));
      using deadline = startDeadline(exchange, timeoutMs, signal);
      try {
        exchange.start();
        return answer(await exchange.answer);
      } catch (error) {
        signal.throwIfAborted();
        if (isOurs(error)) throw error;
        return answer({
          error: deadline.isOver ? `There was no response within ${timeoutMs} ms.` : failureInWords(error),
        });
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
};

const NO_ANSWER: Answer = { durationMs: 0, status: null, error: null, headers: {}, body: null };

const send = (agent: Agent, { url, headers, body }: PostRequest, exchange: Exchange): void => {
  const { origin, pathname, search } = new URL(url);
  agent.dispatch({ origin, path: `${pathname}${search}`, method: 'POST', headers, body }, exchange);
};

/** The exchanges that each signal aborts. One listener per signal, because removing one of many is slow. */
const exchangesOf = oncePer((signal: AbortSignal): Set<Exchange> => {
  const exchanges = new Set<Exchange>();
  const cutAll = (): void => {
    for (const each of exchanges) each.cut(new Error('the delivery was stopped'));
  };
  signal.addEventListener('abort', cutAll, { once: true });
  return exchanges;
});

/** Cleans up completely on disposal. */
const startDeadline = (
  exchange: Exchange,
  timeoutMs: number,
  signal: AbortSignal,
): Disposable & { readonly isOver: boolean } => {
  signal.throwIfAborted();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    exchange.cut(new Error('the time limit was exceeded'));
  }, timeoutMs);
  const exchanges = exchangesOf(signal).add(exchange);
  return {
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      exchanges.delete(exchange);
    },
  };
};
