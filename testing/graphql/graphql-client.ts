import { type Ask, restClientOf } from '../http/rest-client.ts';

type GraphqlError = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly [name: string]: unknown };
};

export type GraphqlReply<Data> = {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data;
  readonly errors: readonly GraphqlError[] | undefined;
  readonly extensions: { readonly cost?: { readonly requestedQueryCost: number } } | undefined;
};

type Options = Pick<Ask, 'token' | 'headers'> & {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
};

type GraphqlClient = <Data = Record<string, never>>(
  query: string,
  options?: Options,
) => Promise<GraphqlReply<Data>>;

/** Sends one operation after the other, as any program can. */
export const graphqlClientOf = (installation: Parameters<typeof restClientOf>[0]): GraphqlClient => {
  const ask = restClientOf(installation);
  return async <Data>(query: string, { token, headers, ...more }: Options = {}) => {
    const reply = await ask('POST', '/graphql', {
      token,
      headers: { accept: 'application/graphql-response+json', ...headers },
      body: { query, ...more },
    });
    const { data, errors, extensions } = reply.body as GraphqlReply<Data>;
    return { status: reply.status, headers: reply.headers, data, errors, extensions };
  };
};
