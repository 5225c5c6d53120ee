import { createHash } from 'node:crypto';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { sharedTest as test } from '../engines/installation-fixture.ts';

/** Unmodified clients. */
const CREATE = gql`mutation Create($input: PostInput!) { createPost(input: $input) { id title author { id name } } }`;
const READ = gql`query Read($id: ID!) { post(id: $id) { id title tags author { id name } commentsConnection(first: 2) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } } } }`;
const FAIL = gql`mutation Fail { publishPost(id: "1") { id } }`;
type Created = { createPost: { id: string } };
const input = (title: string) => ({ title, body: '', tags: ['clients'], publish: true });

describe('Apollo Client', () => {
  test('queries, mutates, and gets errors', async ({
    graphqlUrl: uri,
    headersOfAda: headers,
    installation: { fetch },
  }) => {
    const link = new HttpLink({ uri, fetch, headers });
    const client = new ApolloClient({ cache: new InMemoryCache(), link });
    const { data } = await client.mutate<Created>({
      mutation: CREATE,
      variables: { input: input('By Apollo') },
    });
    const id = data?.createPost.id;
    const read = await client.query<{ post: object }>({ query: READ, variables: { id } });
    expect(read.data?.post).toMatchObject({
      id,
      title: 'By Apollo',
      tags: ['clients'],
      author: { name: 'Ada' },
    });
    const error: unknown = await client.mutate({ mutation: FAIL }).catch((error: unknown) => error);
    expect(CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.code).toBe('article_not_found');
  });

  test('sends hashes instead of queries, by GET, and the query once', async ({
    graphqlUrl: uri,
    installation,
  }) => {
    const requests: { readonly method: string; readonly url: URL; readonly status: number }[] = [];
    const watched: typeof fetch = async (input, init) => {
      const response = await installation.fetch(input, init);
      requests.push({ method: init?.method ?? 'GET', url: new URL(String(input)), status: response.status });
      return response;
    };
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const anew = () =>
      new ApolloClient({
        cache: new InMemoryCache(),
        link: ApolloLink.from([
          new PersistedQueryLink({ sha256, useGETForHashedQueries: true }),
          new HttpLink({ uri, fetch: watched }),
        ]),
      });
    const query = gql`query Hashed { posts(filter: { tag: "clients" }) { title } }`;
    const expected = [{ __typename: 'Post', title: 'By Apollo' }];
    expect((await anew().query<{ posts: object[] }>({ query })).data?.posts).toEqual(expected);
    // The hash alone, which is unknown yet, and then the query with it.
    expect(requests.splice(0).map(({ method }) => method)).toEqual(['GET', 'POST']);
    const askAgain = async () => {
      requests.splice(0);
      expect((await anew().query<{ posts: object[] }>({ query })).data?.posts).toEqual(expected);
      const asked = requests.map(({ method, url }) => [method, url.searchParams.has('query')]);
      // Each process remembers its own documents, and the ingress sends every other request to the same one.
      await installation.fetch(`${uri}?query=%7B__typename%7D`);
      return asked;
    };
    expect(await until(askAgain, ({ length }) => length === 1)).toEqual([['GET', false]]);
  });
});

describe('urql', () => {
  test('queries, mutates, and gets errors', async ({
    graphqlUrl: url,
    headersOfAda: headers,
    installation: { fetch },
  }) => {
    const client = new Client({
      url,
      fetch,
      exchanges: [cacheExchange, fetchExchange],
      preferGetMethod: 'within-url-limit',
      fetchOptions: { headers },
    });
    const { data, error } = await client.mutation<Created>(CREATE, { input: input('By urql') });
    expect(error).toBeUndefined();
    const id = data?.createPost.id;
    const read = await client.query(READ, { id });
    expect(read.data?.post).toMatchObject({
      id,
      title: 'By urql',
      commentsConnection: { totalCount: 0, edges: [] },
    });
    const failed = await client.mutation(FAIL, {});
    expect(failed.error?.graphQLErrors[0]?.extensions.code).toBe('article_not_found');
    expect(failed.error?.response.status).toBe(200);
  });
});
