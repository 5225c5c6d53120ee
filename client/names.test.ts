import { expect, test } from 'vitest';
import { startLocalServer } from '../test/engines/local-server.ts';
import { createClient } from './client.ts';

type Any = {
  readonly [name: string]: {
    get(id: number): Promise<unknown>;
    list(): { take(count: number): Promise<unknown> };
  };
} & { with(options: object): Any };

/** A server of a domain with these paths. */
const open = async (description: 'served' | 'missing' = 'served') => {
  const asked: string[] = [];
  const server = await startLocalServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const isKnown = /^\/(?:articles|line-items|comments)\//.test(path);
    const isDescription = path === '/openapi.json' && description === 'served';
    const paths = { '/articles': {}, '/articles/{id}': {}, '/line-items/{id}': {}, '/comments/{id}': {} };
    const body = isDescription
      ? { paths }
      : isKnown
        ? { id: 7 }
        : { code: 'not_found', title: 'No such path' };
    response
      .writeHead(isDescription || isKnown ? 200 : 404, {
        'Content-Type': isDescription || isKnown ? 'application/json' : 'application/problem+json',
      })
      .end(JSON.stringify(body));
  });
  const client = createClient({ url: server.url }) as unknown as Any;
  return { asked, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

test('an unknown collection is refused with the nearest name, from then on without a request', async () => {
  await using site = await open();
  const { asked, client } = site;
  await expect(client.artikles?.get(7)).rejects.toThrow(
    new TypeError('the domain has no collection “artikles”: did you mean “articles”?'),
  );
  expect(asked).toEqual(['/artikles/7', '/openapi.json']);
  await expect(client.lineItem?.list().take(1)).rejects.toThrow(/did you mean “lineItems”\?$/);
  await expect(client.with({}).invoices?.get(7)).rejects.toThrow(
    new TypeError('the domain has no collection “invoices”'),
  );
  expect(asked).toHaveLength(2);
  expect([await client.lineItems?.get(7), await client.comments?.get(7)]).toEqual([{ id: 7 }, { id: 7 }]);
});

test('a client without mistakes sends no request for names', async () => {
  await using site = await open();
  expect([await site.client.articles?.get(7), site.asked]).toEqual([{ id: 7 }, ['/articles/7']]);
});

test('without a description, the answer of the server is the error', async () => {
  await using site = await open('missing');
  await expect(site.client.artikles?.get(7)).rejects.toMatchObject({ name: 'Problem', code: 'not_found' });
});

test('a name that nobody calls is no error, because programs look at objects', async () => {
  await using site = await open();
  expect([typeof site.client.toJSON, site.asked]).toEqual(['object', []]);
});
