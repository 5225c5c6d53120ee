/**
 * Follows what is published by the client of graphql-sse. The argument, if any, is the cursor to go on after.
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
  // Its own attempts would ask for the same cursor as at first, over and over.
  retryAttempts: 0,
});

/**
 * Where the log is now. Whoever follows without a cursor, and is cut off before anything has come, would
 * begin at a later place.
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
      // What you do with it comes here; keep the cursor together with that.
      console.log(cursor, type, subjectId, article?.title);
      after = cursor;
    }
  } catch (error) {
    console.error('cut off:', error);
  }
  await pause(1_000 + Math.random() * 1_000);
}
