/**
 * Subscribes to published articles with Apollo Client. The optional argument is the cursor to continue after.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ApolloClient, ApolloLink, gql, InMemoryCache } from '@apollo/client';
import { print } from 'graphql';
import { createClient } from 'graphql-sse';
import { Observable } from 'rxjs';
import { ANNALS_URL, accessToken } from './access-token.js';

const PUBLISHED = gql`
  subscription ($after: Cursor) {
    changes(types: ["article.published"], after: $after) { cursor type subjectId article { id title } }
  }
`;

const sse = createClient({
  url: `${ANNALS_URL}/graphql`,
  headers: async () => ({ authorization: `Bearer ${await accessToken()}` }),
  retryAttempts: 0,
});

/**
 * Queries and mutations may use this link as well; `ApolloLink.split` sends them by an `HttpLink` instead.
 */
const link = new ApolloLink(
  ({ query, variables }) =>
    new Observable((observer) => sse.subscribe({ query: print(query), variables }, observer)),
);

const client = new ApolloClient({ link, cache: new InMemoryCache() });

/**
 * The current cursor. A subscriber without a cursor that loses its connection before the first event would
 * miss events.
 */
const cursorNow = async () =>
  (await client.query({ query: gql`{ cursor }`, fetchPolicy: 'no-cache' })).data.cursor;

let after = process.argv[2] ?? (await cursorNow());
console.error('from', after);
const handle = ({ data, error }) => {
  if (error) console.error('told:', error.message);
  if (!data) return;
  const { cursor, type, subjectId, article } = data.changes;
  // Your processing goes here; store the cursor together with its result.
  console.log(cursor, type, subjectId, article?.title);
  after = cursor;
};

/** Until the stream ends, for any reason. */
const follow = () =>
  new Promise((complete, error) => {
    client.subscribe({ query: PUBLISHED, variables: { after } }).subscribe({ next: handle, complete, error });
  });

for (;;) {
  await follow().catch((error) => console.error('cut off:', error));
  await pause(1_000 + Math.random() * 1_000);
}
