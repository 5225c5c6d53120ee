import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstMinutePath, readFirstMinute, writeFirstMinute } from '#process/first-minute-file.ts';
import { callAt } from '../../test/engines/call-line.ts';

const temporaryFolder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'annals-token-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};

const call = (args: readonly string[], environment: Record<string, string>) =>
  callAt({ environment }, ['token', ...args]);

/** A server that gives every request the same answer, and records requests. */
const answering = async (status: number, body: string) => {
  const asked: { authorization: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    asked.push({ authorization: request.headers.authorization, body: text });
    response.writeHead(status).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() };
};

const CONTENT = {
  client: { clientId: 'development-admin', secret: 's' },
  author: { email: 'demo@example.com', password: 'p' },
};

test('before the first start, it says what to do', async () => {
  await using folder = await temporaryFolder();
  expect(await call([], { DATA_DIR: folder.path })).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('run npm start first'),
  });
});

test('without a running server, it says so', async () => {
  await using folder = await temporaryFolder();
  await writeFirstMinute(folder.path, { ...CONTENT, url: 'http://127.0.0.1:1' });
  expect(await call([], { DATA_DIR: folder.path })).toMatchObject({
    exit: 1,
    output: '',
    complaint:
      'Annals does not answer at http://127.0.0.1:1: start it with npm start, or give its address with --url.',
  });
});

test.each<[string, readonly string[], string]>([
  ['a secret without a client', ['--secret', 's'], '--secret requires --client'],
  ['a client without a secret', ['--client', 'importer'], '--client importer goes with --secret'],
  [
    'an address that is none',
    ['--client', 'a', '--secret', 's', '--url', 'annals'],
    '--url must be an http or https URL',
  ],
  ['an option that there is not', ['--scopes', 'x'], 'there is no option --scopes; did you mean --scope?'],
])('%s is refused', async (_, args, complaint) => {
  await using folder = await temporaryFolder();
  expect(await call(args, { DATA_DIR: folder.path })).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining(complaint),
  });
});

test('it prints the token and nothing else', async () => {
  await using folder = await temporaryFolder();
  await using server = await answering(200, JSON.stringify({ access_token: 'abc', token_type: 'Bearer' }));
  await writeFirstMinute(folder.path, { ...CONTENT, url: server.url });
  expect(await call(['--scope', 'read:articles'], { DATA_DIR: folder.path })).toMatchObject({
    exit: 0,
    output: 'abc',
    complaint: '',
  });
  expect(server.asked).toEqual([
    {
      authorization: `Basic ${btoa('development-admin:s')}`,
      body: 'grant_type=client_credentials&scope=read%3Aarticles',
    },
  ]);
});

test('another client and server can be named', async () => {
  await using folder = await temporaryFolder();
  await using server = await answering(200, JSON.stringify({ access_token: 'abc' }));
  const called = await call(['--client', 'importer', '--url', `${server.url}/`], {
    DATA_DIR: folder.path,
    CLIENT_SECRET: 'x',
  });
  expect(called).toMatchObject({ exit: 0, output: 'abc' });
  expect(server.asked).toEqual([
    { authorization: `Basic ${btoa('importer:x')}`, body: 'grant_type=client_credentials' },
  ]);
});

test.each<[string, number, string, string]>([
  [
    'a refusal',
    400,
    '{"error":"invalid_scope","error_description":"there is no such scope"}',
    'The server issued no token for development-admin: invalid_scope, there is no such scope.',
  ],
  ['something else that answers', 200, '<html>', 'is not Annals (status 200)'],
  [
    'an overload',
    503,
    '{"code":"overloaded","title":"The server is overloaded."}',
    'cannot answer at the moment (status 503, overloaded): retry in a few seconds.',
  ],
  ['a proxy without a server behind it', 502, '<html>', 'cannot answer at the moment (status 502): retry'],
])('%s is reported', async (_, status, body, complaint) => {
  await using folder = await temporaryFolder();
  await using server = await answering(status, body);
  await writeFirstMinute(folder.path, { ...CONTENT, url: server.url });
  expect(await call([], { DATA_DIR: folder.path })).toMatchObject({
    exit: 1,
    output: '',
    complaint: expect.stringContaining(complaint),
  });
});

test('only the owner can read the secrets, and a damaged file counts as missing', async () => {
  await using folder = await temporaryFolder();
  await writeFirstMinute(folder.path, CONTENT);
  expect((await stat(firstMinutePath(folder.path))).mode & 0o777).toBe(0o600);
  expect(await readFirstMinute(folder.path)).toEqual(CONTENT);
  await writeFirstMinute(folder.path, {} as never);
  expect(await readFirstMinute(folder.path)).toBeUndefined();
});
