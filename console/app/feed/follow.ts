import type { Event } from '#shared/rest/events.ts';
import type { Api } from '../base/api.ts';
import { ApiProblem, type ProblemFacts } from '../base/problem.ts';
import { type Message, openMessages } from './messages.ts';

type FollowOptions = {
  /** The path of the stream. Without a start time in it, it begins after a cursor, or now. */
  readonly path: string;
  readonly after?: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: Event) => void;
  readonly onState: (state: 'connecting' | 'live' | ProblemFacts) => void;
  /** True if missing the events before the stream is live is harmless, because the caller reads then. */
  readonly startsLive?: boolean;
};

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** An idle stream sends a keep-alive every 15 seconds. */
const SILENCE_MAX_MS = 60_000;

/**
 * Follows the events until the signal. After any interruption it resumes after the last cursor: nothing is
 * lost or repeated.
 */
export const follow = async (
  api: Pick<Api, 'get' | 'stream'>,
  { path, after, signal, onEvent, onState, startsLive = false }: FollowOptions,
): Promise<void> => {
  let last = after;
  let retryMs = RETRY_MS;
  const take = ({ event, id, data, retryMs: wanted }: Message): void => {
    if (wanted !== undefined) retryMs = wanted;
    if (event === 'problem') return;
    if (data !== undefined) onEvent(JSON.parse(data) as Event);
    // A message without data has a cursor too: the position up to which there is nothing for us.
    last = id ?? last;
  };
  while (!signal.aborted) {
    onState('connecting');
    try {
      // Determined in advance, so that nothing is lost if the first connection breaks off before a message.
      if (last === undefined && !startsLive && !path.includes('since='))
        last = (await api.get<Now>('/operations', signal)).body.log.cursor;
      await readOnce(api, { path, after: last, signal }, (messages) => {
        onState('live');
        retryMs = RETRY_MS;
        for (const message of messages) take(message);
      });
    } catch (error) {
      if (signal.aborted) return;
      const facts = error instanceof ApiProblem ? error.facts : CUT_OFF;
      onState(facts);
      if (isFinal(facts)) return;
      retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
    }
    await pause(retryMs, signal);
  }
};

const CUT_OFF: ProblemFacts = { status: 0, code: 'unreachable', title: 'The connection was lost.' };

/** A repeated request would be refused again. */
const isFinal = ({ status }: ProblemFacts): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

type Now = { readonly log: { readonly cursor: string } };
type Where = Pick<FollowOptions, 'path' | 'signal'> & { readonly after: string | undefined };

const readOnce = async (
  api: Pick<Api, 'stream'>,
  { path, after, signal }: Where,
  take: (messages: readonly Message[]) => void,
): Promise<void> => {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const either = AbortSignal.any([signal, silence.signal]);
    const response = await api.stream(path, after === undefined ? {} : { 'last-event-id': after }, either);
    const reader = response.body?.getReader();
    const messages = openMessages();
    const decoder = new TextDecoder();
    take([]);
    for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      take(messages(decoder.decode(chunk.value, { stream: true })));
    }
  } finally {
    clearTimeout(timer);
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
};
