import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { requestsOf } from '../console/app/data/item-requests.ts';
import { domainFacts } from '../console/derive-facts.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { schemaOf } from '../query/graphql/schema/schema.ts';
import { privateHelpdesk } from './toy/private-helpdesk.ts';

const ORIGIN = 'https://annals.example';

test.each([publishing, expenses, privateHelpdesk])(
  '$name: the query that the console shows for an item is valid in its schema',
  (domain) => {
    const schema = schemaOf(domain);
    for (const kind of domainFacts(domain).kinds) {
      const [read] = requestsOf({ kind, item: { id: 8001, _links: {} }, etag: undefined, origin: ORIGIN });
      const errors = validate(schema, parse(read?.GraphQL ?? ''));
      expect([kind.name, errors.map(String)]).toEqual([kind.name, []]);
    }
  },
);

test('commands are those of the links, quoted for a shell', () => {
  const kind = domainFacts(publishing).kinds.find(({ name }) => name === 'article');
  if (kind === undefined) throw new Error('there are no articles');
  const item = {
    ...{ id: 8001, title: "Ada's" },
    _links: {
      edit: { href: '/articles/8001', method: 'PATCH' },
      publish: { href: '/articles/8001/publish', method: 'POST' },
      delete: { href: '/articles/8001', method: 'DELETE' },
      self: { href: '/articles/8001' },
    },
  };
  const requests = requestsOf({ kind, item, etag: '"3-abc"', origin: ORIGIN });
  const typescript = requests.map(({ TypeScript }) => TypeScript);
  expect(typescript).toContain('const item = await client.articles.get(8001);');
  expect(typescript).toContain(`await client.articles.edit(8001, { title: "Ada's" });`);
  expect(typescript).toContain('await client.articles.publish(8001);');
  const edit = requests.find(({ curl }) => curl?.includes('PATCH'))?.curl;
  expect(edit).toBe(
    `curl -X PATCH 'https://annals.example/articles/8001' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'If-Match: "3-abc"' \\
  -H 'Content-Type: application/json' \\
  -d '{"title":"Ada'\\''s"}'`,
  );
});
