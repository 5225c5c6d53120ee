import { pino } from 'pino';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openDeliveryQueue } from '../../webhook-dispatcher/queue/open.ts';
import { createDatabase } from '../engines/database.ts';
import { testDeliveryQueue } from './delivery-queue-contract.ts';

testDeliveryQueue('PostgreSQL', async () => {
  const database = await createDatabase();
  return {
    open: (name) =>
      openDeliveryQueue({ url: database.url, name, log: pino({ level: 'silent' }), clock: REAL_TIME }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
