import { NoAnswer, Problem, problemOfMessage } from './problem.ts';
import { messagesIn } from './server-sent-events.ts';
import { backoffMs, wait } from './wait.ts';

/** Follows a stream of events across reconnects, each event once and in the order of the log. */

export type Followed<Event> = AsyncIterableIterator<Event> & {
  /** The cursor to continue after: store it together with the effect of the last event. */
  readonly cursor: string | undefined;
};
export type Follow = {
  /** The current cursor, if none is given, so that nothing is missed before the first event. */
  readonly begin: (signal: AbortSignal) => Promise<string | undefined>;
  /** Opens the stream after a cursor; without one, at the current end. */
  readonly open: (after: string | undefined, signal: AbortSignal) => Promise<Response>;
  readonly after: string | undefined;
  /** Reconnects after so long without a byte: an idle stream sends a heartbeat every 15 seconds. */
  readonly silenceMaxMs: number;
  readonly signal: AbortSignal | undefined;
  readonly watch?: Watch;
};

/** Callbacks for a copy that is kept up to date. */
type Watch = {
  /** The cursor has advanced; `isQuiet` if there was no event, so that there are no more for now. */
  moved(cursor: string, isQuiet: boolean): void;
  /** The connection has ended; unless the loop ends too, another one follows. */
  ended(): void;
};

export const SILENCE_MAX_MS = 45_000;
const RECONNECT_MAX_MS = 30_000;

export const follow = <Event>({
  begin,
  open,
  after,
  silenceMaxMs,
  signal,
  watch,
}: Follow): Followed<Event> => {
  const leaving = new AbortController();
  const ended = signal ? AbortSignal.any([leaving.signal, signal]) : leaving.signal;
  const state = { cursor: after, failures: 0, retryMs: 0 };

  /**
   * The events of one connection. It reads ahead no more than the connection buffers, so a slow loop slows
   * the server down.
   */
  async function* connection(): AsyncGenerator<Event> {
    const silence = watchSilence(silenceMaxMs);
    try {
      const response = await open(state.cursor, AbortSignal.any([ended, silence.signal]));
      for await (const { event, data, id, retryMs } of messagesIn(silence.watch(bytesOf(response)))) {
        state.retryMs = retryMs ?? state.retryMs;
        if (event === 'problem') {
          const problem = problemOfMessage(data);
          if (isPassing(problem)) return;
          throw problem;
        }
        if (data !== '') {
          state.failures = 0;
          // A loop that ends here has processed the event, one that throws has not: the cursor moves when the
          // next event is requested.
          yield JSON.parse(data) as Event;
        }
        // An empty id would mean the current end.
        state.cursor = id || state.cursor;
        if (id) watch?.moved(id, data === '');
      }
    } finally {
      silence.end();
      watch?.ended();
    }
  }

  async function* events(): AsyncGenerator<Event> {
    try {
      state.cursor ??= await begin(ended);
      for (;;) {
        let afterMs = 0;
        try {
          yield* connection();
        } catch (error) {
          ended.throwIfAborted();
          if (isFinal(error)) throw error;
          afterMs = (error instanceof Problem ? error.retryAfterMs : undefined) ?? 0;
        }
        ended.throwIfAborted();
        await wait(Math.max(afterMs, state.retryMs, backoffMs(state.failures++, RECONNECT_MAX_MS)), ended);
      }
    } catch (error) {
      // After the loop has ended, an error no longer matters.
      if (!leaving.signal.aborted) throw error;
    } finally {
      leaving.abort();
    }
  }

  const iterator = events();
  return {
    get cursor() {
      return state.cursor;
    },
    next: () => iterator.next(),
    return: async () => {
      // A pending read for the next event would delay the end.
      leaving.abort();
      await iterator.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/**
 * Errors that end a connection but not the right to have one: the next attempt brings another token, and its
 * status refuses it otherwise.
 */
const RESUMABLE: ReadonlySet<string> = new Set(['invalid_token', 'too_slow']);
const isPassing = ({ code, status }: Problem): boolean => RESUMABLE.has(code) || !isRefusal(status);

/** A refusal ends the stream, without another attempt: a missing right, or a wrong cursor or parameter. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;
const isFinal = (error: unknown): boolean =>
  !(error instanceof NoAnswer || (error instanceof Problem && !isRefusal(error.status)));

async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    const read = () =>
      reader.read().catch((cause: unknown) => {
        throw new NoAnswer('connection', { cause });
      });
    for (let chunk = await read(); !chunk.done; chunk = await read()) yield chunk.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Aborts after a silence. Time in which the loop is busy does not count. */
const watchSilence = (maxMs: number) => {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => clearTimeout(timer);
  const begin = () => {
    end();
    timer = setTimeout(() => silent.abort(new NoAnswer('timeout', {})), maxMs);
  };
  begin();
  return {
    signal: silent.signal,
    end,
    async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      begin();
      for await (const chunk of chunks) {
        end();
        yield chunk;
        begin();
      }
    },
  };
};
