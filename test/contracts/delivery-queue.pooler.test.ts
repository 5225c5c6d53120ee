import { pino } from 'pino';
import { openDeliveryQueue } from '../../webhook-dispatcher/queue/open.ts';
import { createDatabase } from '../engines/database.ts';
import { testDeliveryQueue } from './delivery-queue-contract.ts';

testDeliveryQueue('PostgreSQL', async () => {
  const database = await createDatabase();
  return {
    open: (name) => openDeliveryQueue({ url: database.url, name, log: pino({ level: 'silent' }) }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
