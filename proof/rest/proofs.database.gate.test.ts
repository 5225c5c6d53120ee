import { expect } from 'vitest';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { until } from '../../testing/until.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { checkFile } from '../tree/check-file.ts';
import { parseVerifierKey } from '../tree/note.ts';

const test = base
  .extend('article', { scope: 'file' }, async ({ author, backend, write }, { onCleanup }) => {
    const article = await write(author, 'POST', '/articles', { title: 'On texts', body: '', tags: [] });
    for (let at = 0; at < 4; at += 1)
      await write(author, 'PATCH', `/articles/${article}`, { title: `On texts, ${at}` });
    const chain = await backend.startChain();
    onCleanup(() => chain[Symbol.asyncDispose]());
    const head = await backend.side.eventLog.head();
    await until(
      () => readChainEnd(backend.side.pool),
      ({ position }) => position >= head,
    );
    return article;
  })
  .extend('query', { scope: 'file' }, ({ backend }) => async (by: Asker | null, text: string) => {
    const { body } = await backend.ask('/graphql', { by, method: 'POST', body: { query: text } });
    return body as { readonly data?: Record<string, never>; readonly errors?: readonly object[] };
  })
  .extend('sentenceOf', { scope: 'file' }, ({ backend }) => async (text: string) => {
    const { body } = await backend.ask('/audit/keys', {});
    const [{ vkey }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
    const key = parseVerifierKey(vkey);
    return checkFile(text, key === undefined ? [] : [key]).sentence;
  });

test('GraphQL has the proof of an item, also of a former one', async ({
  admin,
  article,
  query,
  sentenceOf,
}) => {
  const { data, errors } = await query(
    admin,
    `{ now: post(id: "${article}") { proof } then: post(id: "${article}", at: "v2") { proof } }`,
  );
  expect(errors).toBeUndefined();
  const { now, then } = data as unknown as Record<'now' | 'then', { readonly proof: string }>;
  expect(await sentenceOf(now.proof)).toContain(`article-${article}: 5 events, versions 1 to 5`);
  expect(await sentenceOf(then.proof)).toContain(`article-${article}: 2 events, versions 1 to 2`);
});

test('each entry of a history has the proof of its event', async ({ admin, article, query, sentenceOf }) => {
  const { data, errors } = await query(
    admin,
    `{ post(id: "${article}") { history(first: 2) { nodes { version proof } } } }`,
  );
  expect(errors).toBeUndefined();
  const { post } = data as unknown as {
    readonly post: { readonly history: { readonly nodes: readonly { readonly proof: string }[] } };
  };
  for (const { proof } of post.history.nodes) expect(await sentenceOf(proof)).toContain('has this event');
});

test('others get an error and null', async ({ article, author, query }) => {
  expect(
    await query(author, `{ post(id: "${article}") { id proof history(first: 1) { nodes { proof } } } }`),
  ).toMatchObject({
    data: { post: { id: String(article), proof: null, history: { nodes: [{ proof: null }] } } },
    errors: [{ extensions: { code: 'forbidden' } }, { extensions: { code: 'forbidden' } }],
  });
});
