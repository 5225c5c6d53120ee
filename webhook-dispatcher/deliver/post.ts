import { Agent, type Dispatcher } from 'undici';
import type { GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { checkUrl } from '#shared/webhooks/guard/check-url.ts';
import { ANSWER_BYTES_MAX } from '#shared/webhooks/representation.ts';
import { failureInWords, isOurs } from './failure-in-words.ts';
import { createGuardedConnector } from './guarded-connector.ts';
import { createNameResolver, type ResolveName } from './resolve-name.ts';

/** Sends requests to wherever users say, and expects anything of it. */
export type Poster = AsyncDisposable & {
  /** Whatever the receiver does is an answer; fails only where the signal is aborted, or this machine can do no more. */
  post(request: PostRequest, signal: AbortSignal): Promise<Answer>;
};

export type PostRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

export type Answer = {
  readonly durationMs: number;
  /** Nothing where no answer came. */
  readonly status: number | null;
  /** Why none came, in words. */
  readonly error: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came: what is compressed stays so. */
  readonly body: Uint8Array | null;
};

type Options = {
  readonly rules: GuardRules;
  /** For all of it: looking up the name, connecting, sending, and the answer to its end. */
  readonly timeoutMs: number;
  readonly resolveName?: ResolveName;
};

/** What is shown, and one more byte where there was more. */
const KEPT_BYTES = ANSWER_BYTES_MAX + 1;
/** What has more than this is cut off. */
const READ_BYTES_MAX = 65_536;
const HEADER_BYTES_MAX = 16_384;
/** To one origin at once; more wait. */
const CONNECTIONS_MAX = 1_000;
/** Shorter than what common servers wait for, so that few requests run into a connection that is just being closed. */
const IDLE_MS = 4_000;
const IDLE_MAX_MS = 30_000;

/** No redirects are followed and no proxies asked: this agent knows neither. */
export const openPoster = ({ rules, timeoutMs, resolveName = createNameResolver() }: Options): Poster => {
  const agent = new Agent({
    connect: createGuardedConnector({ allowed: rules.allowed, resolveName, timeoutMs }),
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // There is one deadline, below.
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
      using deadline = startDeadline(timeoutMs, signal);
      try {
        return answer(await exchange(agent, request, deadline.signal));
      } catch (error) {
        signal.throwIfAborted();
        if (isOurs(error)) throw error;
        return answer({ error: deadline.signal.aborted ? `There was no answer within ${timeoutMs} ms.` : failureInWords(error) });
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
};

const NO_ANSWER: Answer = { durationMs: 0, status: null, error: null, headers: {}, body: null };

const exchange = async (agent: Agent, { url, headers, body }: PostRequest, signal: AbortSignal) => {
  const { origin, pathname, search } = new URL(url);
  const response = await agent.request({ origin, path: `${pathname}${search}`, method: 'POST', headers: { ...headers }, body, signal });
  return { status: response.statusCode, headers: textOf(response.headers), body: await readStart(response.body) };
};

const textOf = (headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]));

/** The start of an answer. Its status has come already, so that what becomes of the rest makes no difference. */
const readStart = async (body: Dispatcher.ResponseData['body']): Promise<Buffer> => {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, KEPT_BYTES - keptBytes);
      if (part.length > 0) kept.push(part);
      keptBytes += part.length;
      readBytes += chunk.length;
      // Leaving the loop closes the connection.
      if (readBytes > READ_BYTES_MAX) break;
    }
  } catch {
    // Cut off, by the receiver or by the deadline.
  }
  return Buffer.concat(kept);
};

/** A timer of its own for each request costs less than `AbortSignal.any`, and nothing of it is left behind. */
const startDeadline = (timeoutMs: number, outer: AbortSignal): Disposable & { readonly signal: AbortSignal } => {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  outer.addEventListener('abort', abort, { once: true });
  if (outer.aborted) abort();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
};
