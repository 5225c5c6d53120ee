import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { UnavailableError } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import { connect } from './client.ts';

/** The internals of the client for a failed call. */
type Inside = {
  getChannel(): Promise<unknown>;
  handleError(failed: { getChannel(): unknown }, error: unknown): Promise<void>;
};

test('a call that fails while no node is found does not end the process', async () => {
  const { client, close } = connect('esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=1');
  const inside = client as unknown as Inside;
  const searching = expect(inside.getChannel()).rejects.toThrow('Failed to discover');
  const unavailable = new UnavailableError({ name: 'Error', message: 'away', code: 14 } as never);
  // Nobody awaits this promise, so it must not reject.
  await expect(inside.handleError({ getChannel: () => undefined }, unavailable)).resolves.toBeUndefined();
  await searching;
  await close();
});

test('servers are asked for no compression, and each client has a connection of its own', async () => {
  const asked: IncomingHttpHeaders[] = [];
  let connections = 0;
  const server = createServer()
    .on('session', () => {
      connections += 1;
    })
    .on('stream', (stream, headers) => {
      asked.push(headers);
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' },
        { endStream: true },
      );
    });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `esdb://127.0.0.1:${(server.address() as AddressInfo).port}?tls=false`;
  for (const { client, close } of [connect(url), connect(url)]) {
    const read = client.readAll({ maxCount: 1 });
    await once(read.resume(), 'error');
    await close();
  }
  server.close();
  expect(asked.map((headers) => headers['grpc-accept-encoding'])).toEqual(['identity', 'identity']);
  expect(connections).toBe(2);
});

test.each([
  [
    'credentials without TLS',
    'esdb://admin:secret@127.0.0.1:2113?tls=false',
    'would silently drop the credentials',
  ],
  [
    'the same, written otherwise',
    'esdb://admin:secret@127.0.0.1:2113?connectionName=a&TLS=false',
    'would silently drop the credentials',
  ],
  ['a colon in the password', 'esdb://admin:sec:ret@127.0.0.1:2113', 'write the colon as %3A'],
  ['an unknown form', 'esdb://admin:secret@127.0.0.1:21x13:1', 'EVENT_LOG_URL is invalid'],
])('an address with %s is refused, without showing the password', (_what, url, message) => {
  expect(() => connect(url)).toThrow(message);
  expect(() => connect(url)).not.toThrow(/sec.?ret/);
});
