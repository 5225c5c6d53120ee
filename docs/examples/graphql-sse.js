/**
 * Subscribes to published articles with the client of graphql-sse. The optional argument is the cursor to
 * continue after.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'graphql-sse';
import { ANNALS_URL, accessToken } from './access-token.js';

const PUBLISHED = /* GraphQL */ `
  subscription ($after: Cursor) {
    changes(types: ["article.published"], after: $after) { cursor type subjectId article { title } }
  }
`;

const client = createClient({
  url: `${ANNALS_URL}/graphql`,
  headers: async () => ({ authorization: `Bearer ${await accessToken()}` }),
  // Its own retries would repeat the first cursor.
  retryAttempts: 0,
});

/**
 * The current cursor. A subscriber without a cursor that loses its connection before the first event would
 * miss events.
 */
const cursorNow = async () => {
  for await (const { data, errors } of client.iterate({ query: '{ cursor }' })) {
    if (errors) throw new Error(JSON.stringify(errors));
    return data.cursor;
  }
};

let after = process.argv[2] ?? (await cursorNow());
console.error('from', after);
for (;;) {
  try {
    for await (const { data, errors } of client.iterate({ query: PUBLISHED, variables: { after } })) {
      if (errors) console.error('told:', JSON.stringify(errors));
      if (!data) continue;
      const { cursor, type, subjectId, article } = data.changes;
      // Your processing goes here; store the cursor together with its result.
      console.log(cursor, type, subjectId, article?.title);
      after = cursor;
    }
  } catch (error) {
    console.error('cut off:', error);
  }
  await pause(1_000 + Math.random() * 1_000);
}
