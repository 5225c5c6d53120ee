// Takes minutes, so it starts first.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runAnnals, spawnAnnals, startAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';

// Own server: it tests the first start of one process.

const tokenOf = async (environment: Record<string, string>, ...args: readonly string[]) => {
  const { exit, output } = await runAnnals(['annals.ts', 'token', ...args], environment);
  expect({ exit, output }).toEqual({ exit: 0, output: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/) });
  return output.trim();
};

const listClients = async (url: string, token: string) => {
  const response = await fetch(`${url}/clients`, { headers: { Authorization: `Bearer ${token}` } });
  return { status: response.status, body: (await response.json()) as { clientId: string }[] };
};

test('a newcomer starts it, requests a token, and is an administrator', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  await using annals = await startAnnals(environment);
  await annals.said(/Ctrl\+C stops it/);
  // As typed in a second terminal, where DATA_DIR is not set: the demo has a folder of its own, too.
  expect(annals.output()).toContain(
    `    DATA_DIR=${dataDir.path} npm run -s token -- --scope 'read:articles write:articles'\n`,
  );
  await annals.said(/Sign in as demo@example\.com with the password \S+/);
  const scoped = await tokenOf(environment, '--scope', 'read:articles write:articles');
  expect(JSON.parse(Buffer.from(scoped.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
    scope: 'read:articles write:articles',
    role: 'admin',
    client_id: 'development-admin',
  });
  expect(await listClients(annals.url, scoped)).toMatchObject({ status: 403 });
  expect(await listClients(annals.url, await tokenOf(environment))).toMatchObject({
    status: 200,
    body: expect.arrayContaining([expect.objectContaining({ clientId: 'development-admin' })]),
  });
  const { port } = new URL(annals.url);
  expect(await runAnnals(['annals.ts', 'open', '--json'], environment)).toEqual({
    exit: 0,
    output: `{"url":"http://localhost:${port}/console"}\n`,
  });
  expect((await stat(join(dataDir.path, 'development-access.json'))).mode & 0o777).toBe(0o600);
});

test('a second start finds the fixtures of the first', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  const path = join(dataDir.path, 'development-access.json');
  const start = async () => {
    await using annals = await startAnnals(environment);
    await annals.said(/Sign in as/);
    annals.child.kill('SIGTERM');
    await annals.exited;
    const { url: _, ...secrets } = JSON.parse(await readFile(path, 'utf8'));
    return secrets;
  };
  const first = await start();
  expect(await start()).toEqual(first);
  const { output } = await runAnnals(
    ['annals.ts', 'log', 'tail', '--type', 'user.registered', '--type', 'client.registered'],
    environment,
  );
  expect(output.trim().split('\n')).toHaveLength(3);
});

test('production starts with nothing, and removes the fixtures of development', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  await using development = await startAnnals(environment);
  await development.said(/Sign in as/);
  const key = (await readFile(join(dataDir.path, 'master.key'), 'utf8')).trim();
  development.child.kill('SIGTERM');
  await development.exited;
  const production = {
    ...environment,
    NODE_ENV: 'production',
    MASTER_KEY: key,
    PUBLIC_URL: 'http://localhost',
    HOST: '127.0.0.1',
  };
  await using annals = await startAnnals(production);
  const { exit, output } = await runAnnals(['annals.ts', 'token', '--url', annals.url], environment);
  expect({ exit, output }).toEqual({
    exit: 1,
    output: expect.stringContaining('The server issued no token for development-admin: invalid_client'),
  });
  expect(annals.output()).not.toContain('Try next');
});

test('npm run demo fills a new folder and serves it, and serves the same the next time', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  const serve = async () => {
    await using annals = spawnAnnals(['annals.ts', 'demo', '--articles', '4'], environment);
    const [, signIn] = await annals.said(/Sign in as (\S+ \(.+\), an administrator, with the password \S+)/);
    await annals.said(/Annals is at/);
    const shown = await runAnnals(['annals.ts', 'demo', '--articles', '4'], environment);
    expect(shown).toMatchObject({ exit: 0, output: expect.stringContaining('Demo 1 already exists') });
    annals.child.kill('SIGTERM');
    expect(await annals.exited).toBe(0);
    return signIn;
  };
  const first = await serve();
  expect(await serve()).toBe(first);
  // Its password is that of development.
  const key = (await readFile(join(dataDir.path, 'master.key'), 'utf8')).trim();
  await using production = await startAnnals({
    ...environment,
    NODE_ENV: 'production',
    MASTER_KEY: key,
    PUBLIC_URL: 'http://localhost',
    HOST: '127.0.0.1',
  });
  await production.said(/removed the password of its administrator/);
});

test('only the first start offers the demo', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  const start = async () => {
    await using annals = await startAnnals(environment);
    await annals.said(/Sign in as/);
    annals.child.kill('SIGTERM');
    await annals.exited;
    return annals.output();
  };
  expect(await start()).toContain('npm run demo');
  expect(await start()).not.toContain('npm run demo');
});
