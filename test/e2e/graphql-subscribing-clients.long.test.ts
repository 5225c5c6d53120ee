import { ApolloClient, ApolloLink, gql, InMemoryCache } from '@apollo/client';
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { print } from 'graphql';
import { createClient } from 'graphql-sse';
import { Observable } from 'rxjs';
import { expect } from 'vitest';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import { PUBLISHED, type Published } from '../engines/publishing.ts';

/** Unmodified clients. */
test('Apollo Client subscribes over a link of graphql-sse', async ({
  graphqlUrl: url,
  headersOfAda: headers,
  installation,
  publishing,
}) => {
  const sse = createClient({ url, headers, fetchFn: installation.fetch });
  const link = new ApolloLink(
    ({ query, variables, operationName }) =>
      new Observable((observer) =>
        sse.subscribe(
          { query: print(query), variables, ...(operationName !== undefined && { operationName }) },
          {
            next: (result) => observer.next(result as never),
            error: (error) => observer.error(error),
            complete: () => observer.complete(),
          },
        ),
      ),
  );
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const titles: string[] = [];
  const subscribed = client
    .subscribe<Published>({ query: gql(PUBLISHED) })
    .subscribe({ next: ({ data }) => void (data && titles.push(data.articlePublished.article.title)) });
  await publishing.untilReceived(titles, 'Apollo');
  const { data } = await client.query<{ me: { name: string } }>({ query: gql`{ me { name } }` });
  expect(data?.me.name).toBe('Ada');
  subscribed.unsubscribe();
  sse.dispose();
});

test.for(['its own fetch', 'graphql-sse'])(
  'urql subscribes by %s',
  async (by, { graphqlUrl: url, headersOfAda: headers, installation, publishing }) => {
    const sse = createClient({ url, headers, fetchFn: installation.fetch });
    const forward = subscriptionExchange({
      forwardSubscription: ({ query, variables, operationName }) => ({
        subscribe: (sink) => ({
          unsubscribe: sse.subscribe(
            { query: query ?? '', variables: variables as never, ...(operationName && { operationName }) },
            {
              next: (result) => sink.next(result as never),
              error: (error) => sink.error(error),
              complete: () => sink.complete(),
            },
          ),
        }),
      }),
    });
    const client = new Client({
      url,
      fetch: installation.fetch,
      fetchSubscriptions: by !== 'graphql-sse',
      preferGetMethod: false,
      exchanges:
        by === 'graphql-sse' ? [cacheExchange, forward, fetchExchange] : [cacheExchange, fetchExchange],
      fetchOptions: { headers },
    });
    const titles: string[] = [];
    const { unsubscribe } = client.subscription<Published>(PUBLISHED, {}).subscribe(({ data, error }) => {
      expect(error).toBeUndefined();
      if (data) titles.push(data.articlePublished.article.title);
    });
    await publishing.untilReceived(titles, 'urql');
    unsubscribe();
    sse.dispose();
  },
);
