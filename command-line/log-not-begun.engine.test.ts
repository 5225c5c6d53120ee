import { EventStoreDBClient } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';
import { createCommandDatabase } from '../test/engines/command-side.ts';
import { startEventStoreStandIn } from '../test/engines/eventstoredb/server.ts';

const recordsOf = async (address: string): Promise<number> => {
  const client = EventStoreDBClient.connectionString(address);
  const { length } = await Array.fromAsync(client.readAll());
  await client.dispose();
  return length;
};

test('before the first start, commands on a shared server begin no log without an owner', async () => {
  await using standIn = await startEventStoreStandIn();
  await using database = await createCommandDatabase({
    startLog: async () => ({ url: standIn.address, [Symbol.asyncDispose]: async () => {} }),
  });
  const call = (...args: readonly string[]) => callAt({ environment: database.settings }, args);
  const before = await recordsOf(standIn.address);
  const examined = (await call('doctor')).output;
  expect(examined).toContain('The event log of EVENT_LOG_URL answers; the first start begins it.');
  expect(await call('log', 'tail')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(
      /^There is no event log at EVENT_LOG_URL with EVENT_LOG_PREFIX annals yet:/,
    ),
  });
  expect(await recordsOf(standIn.address)).toBe(before);
  // `client create` may run before the first start.
  const created = await call('client', 'create', 'First', '--id', 'first', '--service', '--role', 'admin');
  expect(created, created.complaint).toMatchObject({ exit: 0 });
  expect((await call('doctor')).output).toContain('The event log of EVENT_LOG_URL answers.');
  await using newcomer = await createCommandDatabase({
    startLog: async () => ({ url: standIn.address, [Symbol.asyncDispose]: async () => {} }),
  });
  const refused = await callAt({ environment: newcomer.settings }, ['doctor']);
  expect(refused.output).toContain('belongs to another installation');
});
