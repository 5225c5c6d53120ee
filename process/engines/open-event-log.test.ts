import { expect, test } from 'vitest';
import { placeOfLog } from './open-event-log.ts';

test.each([
  [undefined, 'the database'],
  [
    'postgres://annals:hunter2@db.example.org:5433/log?sslmode=require',
    'PostgreSQL at db.example.org:5433/log',
  ],
  ['esdb://annals:hunter2@a:2113,b:2113?tlsCAFile=/ca.pem', 'EventStoreDB at a:2113,b:2113'],
])('the log of EVENT_LOG_URL %s is said to be in %s', (eventLogUrl, place) => {
  expect(placeOfLog({ eventLogUrl })).toBe(place);
});
