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
