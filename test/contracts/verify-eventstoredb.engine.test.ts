import { expect, test } from 'vitest';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { inEventStoreDB } from '../engines/log-engines.ts';
import { createVerifyWorld } from '../engines/verify-world.ts';
import { describeVerifying } from './verify-contract.ts';

describeVerifying('EventStoreDB, by its stand-in', inEventStoreDB);

test('a lagging leader is asked again before events count as lost', async () => {
  await using node: EventStoreStandIn = await startEventStoreStandIn();
  await using world = await createVerifyWorld(async () => ({
    url: node.address,
    [Symbol.asyncDispose]: async () => {},
  }));
  await world.sign();
  const { eventLog } = world.side;
  node.lag(3);
  const head: EventLog['head'] = async () => {
    const late = await eventLog.head();
    node.catchUp();
    return late;
  };
  expect((await world.verify({ eventLog: { ...eventLog, head } })).findings.listed).toEqual([]);
});
