import { UnavailableError } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import { connect } from './client.ts';

/** What the client does within itself when one of its calls fails. */
type Inside = {
  getChannel(): Promise<unknown>;
  handleError(failed: { getChannel(): unknown }, error: unknown): Promise<void>;
};

test('a call that fails while no node is found does not end the process', async () => {
  const { client, close } = connect('esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=1');
  const inside = client as unknown as Inside;
  const searching = expect(inside.getChannel()).rejects.toThrow('Failed to discover');
  const unavailable = new UnavailableError({ name: 'Error', message: 'away', code: 14 } as never);
  // Nobody waits for this, so that it must not be rejected.
  await expect(inside.handleError({ getChannel: () => undefined }, unavailable)).resolves.toBeUndefined();
  await searching;
  await close();
});
