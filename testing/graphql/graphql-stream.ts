import { type Followed, follow } from '../http/event-source.ts';
import type { Installation } from '../installation.ts';
import { until } from '../until.ts';

type GraphqlError = {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly [name: string]: unknown };
};
type Result<Data> = { readonly data?: Data; readonly errors?: readonly GraphqlError[] };

/** An operation whose results arrive as server-sent events. */
export type GraphqlStream = Followed & {
  /** Waits for this many results, or for the end. */
  results<Data = Record<string, never>>(count: number): Promise<readonly Result<Data>[]>;
  isComplete(): boolean;
};

type Options = {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the query. */
  readonly body?: object;
  /** See `follow`. */
  readonly onSign?: () => void;
};

type At = Pick<Installation, 'url' | 'fetch'>;

/** Speaks GraphQL over SSE as any program can, in distinct connections mode. */
export const streamOf = async (
  at: At,
  query: string,
  { variables, token, headers, body, onSign }: Options = {},
): Promise<GraphqlStream> => {
  const text = JSON.stringify(body ?? { query, variables });
  const stream = await follow(`${at.url}/graphql`, {
    ...(onSign && { onSign }),
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    fetch: (input, init) => at.fetch(input, { ...init, method: 'POST', body: text }),
  });
  const nexts = () => stream.messages.filter(({ event }) => event === 'next');
  return {
    ...stream,
    isComplete: () => stream.messages.some(({ event }) => event === 'complete'),
    async results<Data>(count: number) {
      const seen = await until(nexts, (some) => some.length >= count || stream.isOver(), 30_000);
      return seen.map(({ data }) => JSON.parse(data) as Result<Data>);
    },
  };
};
