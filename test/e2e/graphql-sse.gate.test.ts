import { createClient } from 'graphql-sse';
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import { numbered, PUBLISHED, type Published } from '../engines/publishing.ts';

/** The official client, unmodified. */
const titleOf = (result: unknown): string =>
  (result as { data: Published }).data.articlePublished.article.title;

/** Expects all consecutive articles from the first received one on, each once. */
const expectContiguous = (titles: readonly string[], last: number): void => {
  const numbers = titles.map((title) => Number(title.split(' ').at(-1)));
  const [first = 0] = numbers;
  expect(numbers).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index));
};

describe.each([false, true])('graphql-sse, with a single connection: %s', (singleConnection) => {
  const clientTest = test.extend(
    'client',
    ({ graphqlUrl: url, headersOfAda: headers, installation }, { onCleanup }) => {
      const { fetch: fetchFn } = installation;
      const client = createClient({ url, headers, singleConnection, fetchFn, retryAttempts: 0 } as never);
      onCleanup(() => client.dispose());
      return client;
    },
  );

  clientTest('subscribes, queries, mutates, and gets errors', async ({ client, publishing }) => {
    const titles: string[] = [];
    const subscription = client.iterate({ query: PUBLISHED });
    const reading = (async () => {
      for await (const result of subscription) titles.push(titleOf(result));
    })();
    await publishing.untilReceived(titles, 'Received');
    const one = async (query: string, variables: Record<string, unknown> = {}) => {
      for await (const result of client.iterate({ query, variables })) return result;
      return undefined;
    };
    const me = await one('{ me { name } }');
    expect(me).toMatchObject({ data: { me: { name: 'Ada' } } });
    const created = await one(
      'mutation { createPost(input: { title: "By SSE", body: "", publish: true }) { id } }',
    );
    expect(created).toMatchObject({ data: { createPost: { id: expect.any(String) } } });
    await until(
      () => titles,
      (seen) => seen.includes('By SSE'),
    );
    const failed = await one('mutation { publishPost(id: "1") { id } }');
    expect(failed).toMatchObject({ data: null, errors: [{ extensions: { code: 'article_not_found' } }] });
    await subscription.return?.();
    await reading;
  });

  clientTest('resumes after its last cursor', async ({ client, publishing }) => {
    const receive = async (after: string, count: number) => {
      const seen: Published['articlePublished'][] = [];
      for await (const { data } of client.iterate<Published>({ query: PUBLISHED, variables: { after } })) {
        if (data) seen.push(data.articlePublished);
        if (seen.length === count) break;
      }
      return seen;
    };
    const beginning = await publishing.cursor();
    for (const count of [1, 2, 3]) await publishing.publish(`Then ${count}`);
    const all = await receive(beginning, 3);
    expect(all.map(({ article }) => article.title)).toEqual(['Then 1', 'Then 2', 'Then 3']);
    expect(await receive(all[0]?.cursor ?? '', 2)).toEqual(all.slice(1));
  });

  clientTest('parallel operations get their own results', async ({ ada, client, graphql, publishing }) => {
    const ids = [await publishing.publish('A'), await publishing.publish('B'), await publishing.publish('C')];
    const received = new Map(ids.map((id) => [id, [] as string[]]));
    for (const [id, titles] of received) {
      const query = `subscription { articleChanged(id: ${id}) { type article { title } } }`;
      const next = ({ data }: { data?: unknown }) =>
        titles.push(
          (data as { articleChanged: { article: { title: string } } }).articleChanged.article.title,
        );
      client.subscribe({ query }, { next, error: () => {}, complete: () => {} });
    }
    let round = 0;
    await until(
      async () => {
        round += 1;
        for (const id of ids)
          await graphql(`mutation { updatePost(id: ${id}, changes: { title: "${id} ${round}" }) { id } }`, {
            token: ada.token,
          });
        return [...received.values()];
      },
      (all) => all.every((titles) => titles.length >= 2),
    );
    for (const [id, titles] of received)
      expect(titles.filter((title) => title.includes(' ') && !title.startsWith(`${id} `))).toEqual([]);
  });
});

test('graphql-sse resumes by itself, if its headers have the last cursor', async ({
  graphqlUrl,
  headersOfAda,
  installation,
  publishing,
}) => {
  let last = '';
  let connections = 0;
  const cut = new Set<AbortController>();
  const fetchFn: typeof fetch = (input, init) => {
    connections += 1;
    const cutting = new AbortController();
    cut.add(cutting);
    return installation.fetch(input, {
      ...init,
      signal: AbortSignal.any([cutting.signal, ...(init?.signal ? [init.signal] : [])]),
    });
  };
  const client = createClient({
    url: graphqlUrl,
    fetchFn,
    headers: () =>
      ({ ...headersOfAda, ...(last !== '' && { 'last-event-id': last }) }) as Record<string, string>,
    retryAttempts: 5,
    retry: async () => {},
  });
  const titles: string[] = [];
  client.subscribe<Published>(
    { query: PUBLISHED },
    {
      next(result) {
        last = result.data?.articlePublished.cursor ?? last;
        titles.push(titleOf(result));
      },
      error: () => {},
      complete: () => {},
    },
  );
  const next = numbered('Again');
  let published = '';
  const publishNext = async () => {
    published = next();
    await publishing.publish(published);
  };
  await until(async () => {
    await publishNext();
    return titles.length;
  }, Boolean);
  for (let round = 0; round < 3; round += 1) {
    for (const cutting of cut) cutting.abort();
    for (let more = 0; more < 4; more += 1) await publishNext();
    await until(
      () => titles.at(-1),
      (title) => title === published,
    );
  }
  expectContiguous(titles, Number(published.split(' ')[1]));
  expect(connections).toBeGreaterThan(3);
  client.dispose();
});
