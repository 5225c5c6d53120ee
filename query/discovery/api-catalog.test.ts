import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { withParts } from '#kernel/registry/parts.ts';
import { type Served, serveRoutes } from '../../test/serve.ts';
import { part as graphql } from '../graphql/part.ts';
import { apiCatalogRoutes } from './routes.ts';

const PATH = '/.well-known/api-catalog';
const OPTIONS = { publicUrl: 'https://annals.example/', issuerUrl: 'https://issuer.example' };

let server: Served;
beforeAll(async () => {
  server = await serveRoutes(apiCatalogRoutes({ ...OPTIONS, domain: publishing, apis: graphql.apis ?? [] }));
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ask = (method = 'GET', headers: Record<string, string> = {}, url = server.url) =>
  fetch(`${url}${PATH}`, { method, headers });

type Link = { readonly href: string };
type Catalog = {
  readonly linkset: readonly (Readonly<Record<string, readonly Link[]>> & { readonly anchor: string })[];
};
const hrefs = ({ linkset }: Catalog, anchor: string, rel: string) =>
  linkset.find((each) => each.anchor === anchor)?.[rel]?.map(({ href }) => href);

test('it names each interface, with its descriptions, pages and state', async () => {
  const response = await ask();
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ]);
  const catalog = (await response.json()) as Catalog;
  const [rest, graph] = ['https://annals.example/', 'https://annals.example/graphql'];
  expect(hrefs(catalog, `https://annals.example${PATH}`, 'item')).toEqual([rest, graph]);
  expect(hrefs(catalog, rest, 'service-desc')).toEqual(
    ['openapi.json', 'openapi.yaml', 'asyncapi.json', 'asyncapi.yaml'].map((name) => rest + name),
  );
  expect(hrefs(catalog, graph, 'service-desc')).toEqual([`${graph}/schema.graphql`]);
  expect(hrefs(catalog, graph, 'service-doc')).toEqual([`${rest}docs/graphql`]);
  for (const each of [rest, graph]) {
    expect(hrefs(catalog, each, 'status')).toEqual([`${rest}readyz`]);
    expect(hrefs(catalog, each, 'service-meta')).toEqual(
      expect.arrayContaining([
        `${rest}.well-known/oauth-protected-resource`,
        'https://issuer.example/.well-known/oauth-authorization-server',
      ]),
    );
  }
});

test('it names neither pages nor an authorization server that are not served', async () => {
  const domain = withParts(publishing, []);
  await using core = await serveRoutes(apiCatalogRoutes({ ...OPTIONS, domain, apis: [] }));
  const text = await (await ask('GET', {}, core.url)).text();
  for (const absent of ['/docs', '/graphql', '/mcp', 'issuer.example']) expect(text).not.toContain(absent);
});

test('it is revalidated with 304, and a HEAD finds it by its link', async () => {
  const first = await ask();
  const etag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('public, no-cache');
  expect((await ask('GET', { 'If-None-Match': etag })).status).toBe(304);
  const head = await ask('HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  expect(head.headers.get('link')).toContain(`<https://annals.example${PATH}>; rel="api-catalog"`);
  const posted = await ask('POST');
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
