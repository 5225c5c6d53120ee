// Own server: each set of parts is an installation of its own.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { ALL_PARTS } from '../../parts.ts';
import { spawnAnnals } from '../annals-process.ts';
import { createDatabase } from '../engines/database.ts';

/** The address of a part, its link, the scopes that only it needs, and its modules. */
type Belongings = {
  readonly path: string;
  readonly rel: string;
  readonly scopes: readonly string[];
  readonly modules: RegExp;
};

const OF: Readonly<Record<PartName, Belongings>> = {
  graphql: {
    path: '/graphql',
    rel: 'graphql',
    scopes: ['read:schema'],
    modules: /^(query|site)\/graphql\/|node_modules\/@?graphql/,
  },
  docs: {
    path: '/docs',
    rel: 'docs',
    scopes: [],
    modules: /^site\/|^node_modules\/(marked|highlight\.js)\//,
  },
  console: { path: '/console', rel: 'console', scopes: [], modules: /^console\// },
};
const NAMES = Object.keys(OF) as PartName[];

const ROOT = join(import.meta.dirname, '../..');

const startWith = async (parts: readonly PartName[]) => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const folder = await mkdtemp(join(tmpdir(), 'annals-parts-'));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const noted = join(folder, 'modules');
  const annals = opening.use(
    spawnAnnals(['--import', './test/engines/note-modules.ts', 'test/toy/parts-main.ts'], {
      PARTS: parts.join(' '),
      NOTE_MODULES_IN: noted,
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
    }),
  );
  const [, url = ''] = await annals.said(/"url":"([^"]+)","msg":"Annals is ready\."/);
  const resources = opening.move();
  return {
    url,
    printed: annals.output,
    get: (path: string, accept: string) =>
      fetch(`${url}${path}`, { headers: { accept }, redirect: 'manual' }),
    async modules() {
      const urls = (await readFile(noted, 'utf8')).split('\n').filter((each) => each.startsWith('file:'));
      return urls.map((each) => relative(ROOT, fileURLToPath(each)));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Apart from what differs in each request. */
const refusalOf = async (response: Response) => {
  const { requestId, ...body } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, link: response.headers.get('link'), body };
};

test('there is a test of each part', () => {
  expect(NAMES.toSorted()).toEqual(ALL_PARTS.map(({ name }) => name).toSorted());
});

test.each([
  ['the core alone', []],
  ...NAMES.map((name) => [`the core with ${name}`, [name]] as const),
] as const)('%s serves nothing of the other parts, and loads none of their modules', async (_, parts) => {
  await using annals = await startWith(parts);
  const root = (await (await annals.get('/', 'application/json')).json()) as { readonly _links: object };
  const openapi = await (await annals.get('/openapi.json', 'application/json')).text();
  const unknown = await refusalOf(await annals.get('/nothing', 'application/json'));
  expect([unknown.status, unknown.link !== null]).toEqual([404, parts.some((name) => name === 'docs')]);
  expect((await annals.get('/tickets', 'application/json')).status).toBe(200);
  for (const name of NAMES) {
    const { path, rel, scopes, modules } = OF[name];
    const isServed = parts.some((each) => each === name);
    const page = await annals.get(path, 'text/html');
    expect([name, page.status]).toEqual([name, isServed ? 200 : 404]);
    if (!isServed) {
      expect(await refusalOf(page)).toEqual(unknown);
      expect(await refusalOf(await annals.get(`${path}/x`, 'application/json'))).toEqual(unknown);
      expect(openapi).not.toContain(`"${path}`);
      expect(annals.printed()).not.toContain(`${annals.url}${path}`);
    }
    expect(rel in root._links).toBe(isServed);
    for (const scope of scopes) expect([scope, openapi.includes(scope)]).toEqual([scope, isServed]);
    const loaded = (await annals.modules()).filter((each) => modules.test(each));
    expect([name, loaded.length > 0 ? 'loaded' : 'not loaded', isServed ? [] : loaded]).toEqual([
      name,
      isServed ? 'loaded' : 'not loaded',
      [],
    ]);
  }
});

test('the documentation leads to no page of an absent part', async () => {
  await using annals = await startWith(['docs']);
  const paths: string[] = [];
  for (const page of ['/docs', '/docs/rest', '/docs/events', '/docs/scopes', '/docs/errors']) {
    const html = await (await annals.get(page, 'text/html')).text();
    for (const [, to = ''] of html.matchAll(/href="([^"#:]+)["#]/g))
      paths.push(new URL(to, `${annals.url}${page}`).pathname);
  }
  expect(paths.length).toBeGreaterThan(20);
  const gone: string[] = [];
  for (const path of new Set(paths)) {
    const { status, body } = await annals.get(path, 'text/html');
    await body?.cancel();
    if (status === 404) gone.push(path);
  }
  expect(gone).toEqual([]);
  const loaded = await annals.modules();
  expect(loaded.filter((path) => OF.graphql.modules.test(path))).toEqual([]);
});
