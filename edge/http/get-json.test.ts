import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { getJson } from './get-json.ts';

const serve = async (listener: RequestListener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return {
    url: `http://127.0.0.1:${address.port}/jwks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test('a document is read as JSON', async () => {
  await using server = await serve((request, response) =>
    response.end(JSON.stringify({ accept: request.headers.accept })),
  );
  expect(await getJson(server.url, { timeoutMs: 5_000 })).toEqual({ accept: 'application/json' });
});

test('a redirect is not followed', async () => {
  await using server = await serve((_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  );
  await expect(getJson(server.url, { timeoutMs: 5_000 })).rejects.toThrow('answered 302');
});

test.each([
  ['no answer', () => {}],
  ['half an answer', (response: { write(text: string): unknown }) => void response.write('{"keys"')],
])('%s is given up in time', async (_, answer) => {
  await using server = await serve((_request, response) => answer(response));
  await expect(getJson(server.url, { timeoutMs: 100 })).rejects.toThrow();
});

test('a server that wants to speak another protocol is an error', async () => {
  await using server = await serve((_request, response) => {
    response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });
  await expect(getJson(server.url, { timeoutMs: 5_000 })).rejects.toThrow('without an answer');
});

test('an answer without end is given up', async () => {
  await using server = await serve((_request, response) => {
    response.end(JSON.stringify('x'.repeat(1_048_576)));
  });
  await expect(getJson(server.url, { timeoutMs: 5_000 })).rejects.toThrow('more than 1048576 bytes');
});

test('an address may be written in capitals', async () => {
  await expect(getJson('HTTPS://127.0.0.1:1/', { timeoutMs: 5_000 })).rejects.toThrow('ECONNREFUSED');
});

test('a server that is not there is an error', async () => {
  await expect(getJson('http://127.0.0.1:1/', { timeoutMs: 5_000 })).rejects.toThrow('ECONNREFUSED');
});
