/**
 * A job on a server: comments once on each published article, even if it is killed at any time. The argument
 * is a file for its cursor.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createClient } from 'annals/client';
import { clientCredentials } from 'annals/client/sign-in';

const {
  ANNALS_URL: url = 'http://localhost:4000',
  CLIENT_ID: clientId = '',
  CLIENT_SECRET: clientSecret = '',
} = process.env;
const [, , file = 'greet.cursor'] = process.argv;
const client = createClient({ url, token: clientCredentials({ url, clientId, clientSecret }) });

/**
 * Replaces the whole file, so that it is never half written. If the job has a database, store the cursor
 * there, in the transaction of its work.
 */
const save = async (cursor) => {
  await writeFile(`${file}.new`, cursor);
  await rename(`${file}.new`, file);
};

/**
 * The first run starts at the current cursor, and saves it at once: no article published before the first
 * event is missed.
 */
const begin = async () => {
  const answer = await client.request('POST', '/graphql', { query: '{ cursor }' });
  const { cursor } = (await answer.json()).data;
  await save(cursor);
  return cursor;
};

/** Codes rather than statuses: a proxy answers 404 too. */
const GONE = ['article_not_found', 'article_deleted', 'article_not_published'];

const greet = async ({ id, data }) => {
  const text = 'Congratulations on your article.';
  try {
    // An event comes again if the job was killed before it saved the cursor. This key makes the comment once.
    return await client.articles
      .of(data.articleId)
      .comments.create({ text }, { idempotencyKey: `greet-${id}` });
  } catch (error) {
    // Deleted or unpublished since. Any other error ends the job, and its supervisor restarts it.
    if (client.isProblem(error, ...GONE)) return undefined;
    throw error;
  }
};

/** Stops waiting, and finishes the current event. */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

/**
 * Only a missing file means a first run. Starting at the current cursor because the file cannot be read would
 * skip events.
 */
const saved = async () => {
  try {
    const cursor = await readFile(file, 'utf8');
    if (cursor === '') throw new Error(`${file} is empty: restore it, or remove it to begin now`);
    return cursor;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};

const after = (await saved()) ?? (await begin());
console.error('following after', after);
try {
  for await (const event of client.follow(
    { types: ['article.published'], after },
    { signal: stopping.signal },
  )) {
    const comment = await greet(event);
    console.log(event.cursor, event.subject, comment?.id ?? 'is gone');
    await save(event.cursor);
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error;
}
