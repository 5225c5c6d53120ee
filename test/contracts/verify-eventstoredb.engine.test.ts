import { expect, test } from 'vitest';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { inEventStoreDB } from '../engines/log-engines.ts';
import { createVerifiedReadModel } from '../engines/verified-read-model.ts';
import { describeVerifying } from './verify-contract.ts';

describeVerifying('EventStoreDB, by its stand-in', inEventStoreDB);

test('a lagging leader is asked again before events count as lost', async () => {
  await using node: EventStoreStandIn = await startEventStoreStandIn();
  await using readModel = await createVerifiedReadModel(async () => ({
    url: node.address,
    [Symbol.asyncDispose]: async () => {},
  }));
  await readModel.sign();
  const { eventLog } = readModel.side;
  node.lag(3);
  const head: EventLog['head'] = async () => {
    const late = await eventLog.head();
    node.catchUp();
    return late;
  };
  expect((await readModel.verify({ eventLog: { ...eventLog, head } })).findings.listed).toEqual([]);
});
