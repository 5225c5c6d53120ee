import { expect } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { openPool } from '#shared/database/pool.ts';
import { PUBLIC_URL, startWith } from './start-with-parts.ts';

/** The belongings of a part, absent where it is not served. */
type Belongings = {
  /** Its addresses; a browser can open the first. */
  readonly paths: readonly string[];
  readonly rel?: string;
  readonly scopes: readonly string[];
  readonly modules: RegExp;
  readonly tables: readonly string[];
  /** The parts that it needs. */
  readonly with?: readonly PartName[];
};

export const BELONGINGS: Readonly<Record<PartName, Belongings>> = {
  webhooks: {
    paths: ['/webhooks', '/deliveries'],
    rel: 'webhooks',
    scopes: ['manage:webhooks'],
    modules:
      /^(webhook-dispatcher|command\/webhooks|query\/webhooks)\/|node_modules\/(bullmq|ioredis|undici|cron-parser)\//,
    tables: ['read_model.webhooks', 'webhook_ledger.delivery'],
  },
  streams: { paths: [], scopes: [], modules: /^query\/streams\//, tables: [] },
  proof: {
    paths: ['/audit/status', '/audit/keys', '/audit/verifications'],
    rel: 'audit',
    scopes: [],
    modules: /^proof\//,
    tables: ['audit.block', 'audit.head', 'audit.watch'],
  },
  graphql: {
    paths: ['/graphql'],
    rel: 'graphql',
    scopes: ['read:schema'],
    modules: /^(query|site)\/graphql\/|node_modules\/@?graphql/,
    tables: ['public.persisted_document'],
  },
  aggregates: { paths: [], scopes: [], modules: /^query\/aggregates\//, tables: [] },
  accounts: {
    paths: ['/sign-up', '/clients', '/account/tokens', '/jwks', '/.well-known/openid-configuration'],
    scopes: ['manage:clients', 'manage:tokens', 'manage:accounts'],
    modules: /^auth\/|node_modules\/(oidc-provider|koa|nodemailer|@simplewebauthn|@zxcvbn-ts)\//,
    tables: ['auth.client', 'auth.person', 'auth.credential', 'auth.record'],
  },
  docs: {
    paths: ['/docs'],
    rel: 'docs',
    scopes: [],
    modules: /^site\/|node_modules\/(marked|highlight\.js)\//,
    tables: [],
  },
  console: {
    paths: ['/console'],
    rel: 'console',
    scopes: [],
    modules: /^console\//,
    tables: [],
    with: ['accounts', 'streams', 'proof'],
  },
  mcp: {
    paths: ['/mcp'],
    rel: 'mcp',
    scopes: [],
    modules: /^mcp\/|node_modules\/@modelcontextprotocol\//,
    tables: [],
  },
  inbox: { paths: [], scopes: [], modules: /^inbox\//, tables: [] },
  graphqlWebSockets: {
    paths: [],
    scopes: [],
    modules: /^query\/graphql\/sockets\/|node_modules\/(?:ws|graphql-ws)\//,
    tables: [],
    with: ['graphql'],
  },
};
export const PART_NAMES = Object.keys(BELONGINGS) as PartName[];

/** The feed of changes, of the parts that deliver them to clients. */
const OF_LIVE = /^query\/(changes|live)\/|^query\/sse\/event-streams/;
const LIVE: readonly PartName[] = ['streams', 'graphql'];

/** Apart from what differs in each request. */
const refusalOf = async (response: Response) => {
  const { requestId, ...body } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, link: response.headers.get('link'), body };
};

const tablesIn = async (url: string): Promise<ReadonlySet<string>> => {
  await using pool = openPool({ url, applicationName: 'test', connectionsMax: 1 });
  const { rows } = await pool.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables`,
  );
  return new Set(rows.map(({ name }) => name));
};

export const withNeeded = (name: PartName): readonly PartName[] => [name, ...(BELONGINGS[name].with ?? [])];
export const needs = (name: PartName, other: PartName): boolean => withNeeded(name).includes(other);

/** Starts the core with these parts: nothing of the others is served, and none of their modules is loaded. */
export const expectOnly = async (parts: readonly PartName[]): Promise<void> => {
  await using annals = await startWith(parts);
  const root = (await (await annals.get('/', 'application/json')).json()) as { readonly _links: object };
  const openapi = await (await annals.get('/openapi.json', 'application/json')).text();
  const catalog = await (await annals.get('/.well-known/api-catalog', 'application/json')).text();
  const metadata = await annals.get('/.well-known/oauth-protected-resource', 'application/json');
  const resource = (await metadata.json()) as { readonly scopes_supported: readonly string[] };
  const unknown = await refusalOf(await annals.get('/nothing', 'application/json'));
  expect([unknown.status, unknown.link !== null]).toEqual([404, parts.includes('docs')]);
  expect((await annals.get('/tickets', 'application/json')).status).toBe(200);
  const existing = await tablesIn(annals.database.url);
  for (const name of PART_NAMES) {
    const { paths, rel, scopes, modules } = BELONGINGS[name];
    const isServed = parts.includes(name);
    for (const path of paths) {
      const page = await annals.get(path, 'text/html');
      expect([path, page.status === 404]).toEqual([path, !isServed]);
      if (isServed) continue;
      expect([path, await refusalOf(page)]).toEqual([path, unknown]);
      expect(await refusalOf(await annals.get(`${path}/x`, 'application/json'))).toEqual(unknown);
      expect(openapi).not.toContain(`"${path}`);
      expect(catalog).not.toContain(`${PUBLIC_URL}${path}`);
      expect(annals.printed()).not.toContain(`${annals.url}${path}`);
    }
    if (rel !== undefined) expect([rel, rel in root._links]).toEqual([rel, isServed]);
    for (const scope of scopes) {
      expect([scope, resource.scopes_supported.includes(scope)]).toEqual([scope, isServed]);
      if (!isServed) expect(openapi).not.toContain(scope);
    }
    for (const each of BELONGINGS[name].tables) expect([each, existing.has(each)]).toEqual([each, isServed]);
    const loaded = (await annals.modules()).filter((each) => modules.test(each));
    expect([name, loaded.length > 0, isServed ? [] : loaded]).toEqual([name, isServed, []]);
  }
  const catalogued = [...catalog.matchAll(/"href":"([^"]+)"/g)].map(([, href = '']) => href);
  expect(catalogued.length).toBeGreaterThan(4);
  for (const href of catalogued) {
    expect(href.startsWith(PUBLIC_URL), href).toBe(true);
    const found = await annals.get(href.slice(PUBLIC_URL.length), '*/*');
    await found.body?.cancel();
    expect([href, found.status === 404]).toEqual([href, false]);
  }
  const live = (await annals.modules()).filter((each) => OF_LIVE.test(each));
  const isLive = parts.some((name) => LIVE.includes(name));
  expect([live.length > 0, isLive ? [] : live]).toEqual([isLive, []]);
  expect(annals.printed()).not.toMatch(/"level":"(?:error|fatal)"/);
};
