import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { openPublishedBucket } from './published-bucket.ts';

/** A server whose objects are broken in the same way. */
const aBucket = async (answer: (response: ServerResponse) => void) => {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const files = openPublishedBucket({
    kind: 's3',
    bucket: 'log',
    prefix: '',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: undefined,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  return {
    files,
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      server.close().closeAllConnections();
    },
  };
};

test('an object without an end is refused', async () => {
  const part = Buffer.alloc(65_536);
  await using bucket = await aBucket((response) => {
    const endless = (function* () {
      while (!response.destroyed) yield part;
    })();
    Readable.from(endless).pipe(response);
  });
  await expect(bucket.files.read('checkpoint')).rejects.toThrow('checkpoint in the bucket is too large');
});

test('an object that stays incomplete is given up', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const begun = Promise.withResolvers<void>();
    await using bucket = await aBucket((response) => void response.write('annals/', () => begun.resolve()));
    const refused = expect(bucket.files.read('checkpoint')).rejects.toMatchObject({ name: 'AbortError' });
    await begun.promise;
    await vi.advanceTimersByTimeAsync(8_000);
    await refused;
  } finally {
    vi.useRealTimers();
  }
});
