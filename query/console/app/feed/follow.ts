import type { Event } from '#shared/rest/events.ts';
import type { Api } from '../api.ts';
import { ApiProblem, type ProblemFacts } from '../problem.ts';
import { type Message, openMessages } from './messages.ts';

export type FollowOptions = {
  /** Of the stream; where it does not say since when, it begins after a cursor, or now. */
  readonly path: string;
  readonly after?: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: Event) => void;
  readonly onState: (state: 'connecting' | 'live' | ProblemFacts) => void;
  /** Nothing before it is live is missed by anybody, because they look again then. */
  readonly startsLive?: boolean;
};

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** A stream that is idle says every 15 seconds that it lives. */
const SILENCE_MAX_MS = 60_000;

/**
 * Follows the events until it is told to stop: whatever cuts it off, it goes on after the last cursor, with
 * nothing lost and nothing twice.
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
    // It may be one without data: how far the stream has come where nothing in it was for us.
    last = id ?? last;
  };
  while (!signal.aborted) {
    onState('connecting');
    try {
      // Named from the beginning, so that nothing is lost either where it is cut off before anything has
      // come.
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

const CUT_OFF: ProblemFacts = { status: 0, code: 'unreachable', title: 'The connection was cut off.' };

/** Asking again would be answered the same. */
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
