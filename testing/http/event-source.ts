import { until } from '../until.ts';

/** A message of a stream of server-sent events. */
type Message = { readonly event: string; readonly id: string; readonly data: string };

/**
 * A stream read as a browser's `EventSource` does (HTML Living Standard, section 9.2), with a header for the
 * token.
 */
export type Followed = AsyncDisposable & {
  readonly status: number;
  readonly headers: Headers;
  readonly messages: readonly Message[];
  /** The `Last-Event-ID` of the next connection. */
  readonly lastEventId: () => string;
  readonly comments: () => number;
  readonly isOver: () => boolean;
  /** Waits for this many messages, and returns their data. */
  data<Data>(count: number): Promise<readonly Data[]>;
  over(): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** Called for every chunk, heartbeats included. */
  readonly onSign?: () => void;
};

export const follow = async (
  url: string,
  { headers = {}, fetch: fetchIt = fetch, onSign }: Options = {},
): Promise<Followed> => {
  const leaving = new AbortController();
  const response = await fetchIt(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  });
  const reading = createReading();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let isOver = false;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        reading.take(decoder.decode(chunk, { stream: true }));
        onSign?.();
      }
    } catch {
      // A broken connection ends the stream as well.
    }
    isOver = true;
  };
  const done = isStream ? read() : response.body?.cancel();
  const close = async (): Promise<void> => {
    leaving.abort();
    await done;
  };
  return {
    status: response.status,
    headers: response.headers,
    messages: reading.messages,
    lastEventId: reading.lastEventId,
    comments: reading.comments,
    isOver: () => isOver,
    async data<Data>(count: number) {
      await until(
        () => reading.messages.length,
        (seen) => seen >= count || isOver,
      );
      return reading.messages.map(({ data }) => JSON.parse(data) as Data);
    },
    over: async () => void (await until(() => isOver, Boolean, 60_000)),
    close,
    [Symbol.asyncDispose]: close,
  };
};

const createReading = () => {
  const messages: Message[] = [];
  let rest = '';
  let [event, id, data] = ['', '', [] as string[]];
  let lastEventId = '';
  let comments = 0;
  const dispatch = () => {
    lastEventId = id;
    if (data.length > 0) messages.push({ event: event || 'message', id, data: data.join('\n') });
    [event, data] = ['', []];
  };
  const takeLine = (line: string) => {
    if (line === '') return dispatch();
    if (line.startsWith(':')) {
      comments += 1;
      return;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
    if (field === 'id') id = value;
  };
  return {
    messages,
    lastEventId: () => lastEventId,
    comments: () => comments,
    take(text: string) {
      const lines = (rest + text).split(/\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(line);
    },
  };
};
