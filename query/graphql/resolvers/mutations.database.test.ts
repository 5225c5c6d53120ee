import { expect } from 'vitest';
import { parseCursor } from '#kernel/base/cursor.ts';
import { test as base } from '../../../test/engines/backend.ts';
import { until } from '../../../testing/until.ts';

/** The timeout of one attempt; the test retries. */
const test = base.extend('backendOptions', { scope: 'file' }, { visibleWithinMs: 100 });

const isVisible = ({ status }: { readonly status: number }): boolean => status === 200;

type Body = { data: unknown; errors: { path: string[]; extensions: Record<string, unknown> }[] };

test('a committed mutation that cannot be read yet says so, with the cursor to wait for', async ({
  backend,
}) => {
  const by = await backend.person('author');
  await until(() => backend.ask('/users', { by }), isVisible);
  await backend.stopProjector();
  const query = 'mutation { a: createPost(input: { title: "T", body: "" }) { id title } }';
  const { status, body } = await backend.ask('/graphql', { method: 'POST', by, body: { query } });
  const { data, errors } = body as Body;
  expect([status, data, errors.length]).toEqual([200, null, 1]);
  expect(errors[0]).toMatchObject({ path: ['a'], extensions: { code: 'not_yet_visible', committed: true } });
  const [{ extensions }] = errors as [Body['errors'][number]];
  const { cursor, id } = extensions as { cursor: string; id: string };
  expect(parseCursor(backend.side.eventLog.identity, cursor)).toBe(await backend.side.eventLog.head());
  const read = () =>
    backend.ask('/graphql', {
      method: 'POST',
      by,
      body: { query: `{ post(id: ${id}) { title } }` },
      headers: { 'consistency-token': cursor },
    });
  expect(await read()).toMatchObject({
    status: 503,
    body: { errors: [{ extensions: { code: 'not_yet_visible' } }] },
  });
  await backend.startProjector();
  expect(await until(read, isVisible)).toMatchObject({
    status: 200,
    body: { data: { post: { title: 'T' } } },
  });
});

test.for([
  ['articleId', 'article_not_found'],
  ['authorId', 'user_not_found'],
])(
  'a webhook for an invalid id, by %s, is refused with the name of the missing kind',
  async ([field, code], { backend }) => {
    const by = await backend.person('author');
    const query = `mutation { registerWebhook(input: { url: "https://example.com", eventTypes: ["*"], ${field}: "x" }) { secret } }`;
    const { body } = await backend.ask('/graphql', { method: 'POST', by, body: { query } });
    expect((body as Body).errors).toMatchObject([{ extensions: { code } }]);
  },
);

test('without a read model, the service is unavailable, and reveals no cause', async ({ backend }) => {
  await backend.side.pool.query('alter table read_model.users rename to users_away');
  try {
    // The second query needs the resolvers.
    for (const query of ['{ users { id } }', '{ __schema { queryType { name } } users { id } }']) {
      const { status, body, headers } = await backend.ask('/graphql', { method: 'POST', body: { query } });
      const { data, errors } = body as Body;
      expect(errors).toMatchObject([{ extensions: { code: 'unavailable' } }]);
      expect([status, data, headers.get('retry-after')]).toEqual(
        data === undefined ? [503, undefined, '1'] : [200, null, null],
      );
      expect(JSON.stringify(errors)).not.toMatch(/users_away|relation|read_model/);
    }
  } finally {
    await backend.side.pool.query('alter table read_model.users_away rename to users');
  }
});
