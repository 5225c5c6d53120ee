import { expect, test } from 'vitest';
import { parseRange } from '#shared/webhooks/guard/address.ts';
import type { ResolveName } from '#shared/webhooks/guard/resolve-name.ts';
import { openRawServer } from '../../test/engines/raw-server.ts';
import { openPoster } from './post.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK';
const forever = new AbortController().signal;

/** Posts to a server on this machine, by a URL with its port, with only `allowed` addresses permitted. */
const open = async (allowed: readonly string[], resolveName?: ResolveName) => {
  await using opening = new AsyncDisposableStack();
  const receiver = opening.use(await openRawServer((socket) => socket.write(OK), { host: '0.0.0.0' }));
  const rules = { allowed: allowed.flatMap((text) => parseRange(text) ?? []), ports: 'any' } as const;
  const poster = opening.use(openPoster({ rules, timeoutMs: 10_000, ...(resolveName && { resolveName }) }));
  const resources = opening.move();
  return {
    receiver,
    post: (host: string) =>
      poster.post({ url: `http://${host}:${receiver.port}/`, headers: {}, body: Buffer.from('{}') }, forever),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const addresses =
  (...found: readonly string[]): ResolveName =>
  async () =>
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

const INSIDE = {
  status: null,
  error: 'The host name resolves to a private address, and nothing is sent to private addresses.',
};

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::7f00:1]',
  'localhost',
  '0',
])('a private address in the URL is refused: %s', async (host) => {
  await using opened = await open([]);
  expect(await opened.post(host)).toMatchObject({
    status: null,
    error: expect.stringMatching('not allowed'),
  });
  expect(opened.receiver.connections()).toBe(0);
});

test.each([
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['fe80::1%lo'],
  ['fd00:ec2::254'],
  ['93.184.215.14', '127.0.0.1'],
  ['2606:4700::1111', '::ffff:127.0.0.1'],
  ['2606:4700::1111', '93.184.215.14', '10.0.0.1'],
])('a name that resolves to %s, among others or alone, is refused', async (...found) => {
  await using opened = await open([], addresses(...found));
  expect(await opened.post('hooks.example')).toMatchObject(INSIDE);
  expect(opened.receiver.connections()).toBe(0);
});

test('a name without addresses is refused', async () => {
  await using opened = await open(['127.0.0.1'], addresses());
  expect(await opened.post('hooks.example')).toMatchObject(INSIDE);
});

test('a name with an allowed address is connected to at that very address', async () => {
  let asked = 0;
  await using opened = await open(['127.0.0.7'], async () => {
    asked += 1;
    // If asked again between check and connection, it would return another address.
    return [{ address: asked === 1 ? '127.0.0.7' : '127.0.0.1', family: 4 }];
  });
  expect(await opened.post('hooks.example')).toMatchObject({ status: 200 });
  expect(asked).toBe(1);
});

test('if one address of a name does not answer, the next is tried', async () => {
  await using opened = await open(['127.0.0.7', '::1'], addresses('::1', '127.0.0.7'));
  expect(await opened.post('hooks.example')).toMatchObject({ status: 200 });
});

test('a machine without free sockets is no failure of the receiver', async () => {
  await using opened = await open(['127.0.0.1'], async () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  });
  await expect(opened.post('hooks.example')).rejects.toThrow('too many open files');
});

test('a name that resolves to a private address at the next request is refused', async () => {
  const answers = ['127.0.0.7', '127.0.0.1'];
  await using opening = new AsyncDisposableStack();
  // Closes after each response, so that each request needs its own connection.
  const receiver = opening.use(
    await openRawServer(
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
      { host: '0.0.0.0' },
    ),
  );
  const rules = { allowed: ['127.0.0.7'].flatMap((text) => parseRange(text) ?? []), ports: 'any' } as const;
  const resolveName: ResolveName = async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }];
  const poster = opening.use(openPoster({ rules, timeoutMs: 10_000, resolveName }));
  const post = () =>
    poster.post(
      { url: `http://hooks.example:${receiver.port}/`, headers: {}, body: Buffer.from('{}') },
      forever,
    );
  expect(await post()).toMatchObject({ status: 200 });
  expect(await post()).toMatchObject(INSIDE);
  expect(receiver.connections()).toBe(1);
});

test('the address of an established connection is checked too', async () => {
  // Linux connects 0.0.0.0 with 127.0.0.1.
  await using opened = await open(['0.0.0.0']);
  expect(await opened.post('0.0.0.0')).toMatchObject(INSIDE);
  expect(opened.receiver.requests).toEqual([]);
});

test.each([
  ['ENOTFOUND', 'The host name was not found.'],
  ['ESERVFAIL', 'The name server of the host failed.'],
  ['ETIMEOUT', 'The name server of the host did not answer in time.'],
])('a lookup that fails with %s has a readable reason', async (code, error) => {
  await using opened = await open(['127.0.0.1'], async () => {
    throw Object.assign(new Error('queryA'), { code });
  });
  expect(await opened.post('hooks.example')).toMatchObject({ status: null, error });
});
