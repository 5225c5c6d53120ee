import { EventStoreDBClient } from '@eventstore/db-client';
import { test as base } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import {
  type EventStoreStandIn,
  type StandInOptions,
  startEventStoreStandIn,
} from './eventstoredb/server.ts';

type OnCleanup = { readonly onCleanup: (cleanUp: () => PromiseLike<void>) => void };
type LogOptions = Omit<Parameters<typeof openEventStoreEventLog>[0], 'url' | 'clock'>;

export const startStandIn = async (
  { standInOptions }: { readonly standInOptions: StandInOptions },
  { onCleanup }: OnCleanup,
): Promise<EventStoreStandIn> => {
  const standIn = await startEventStoreStandIn(standInOptions);
  onCleanup(() => standIn[Symbol.asyncDispose]());
  return standIn;
};

type OnStandIn = { readonly standIn: EventStoreStandIn };

const openLog = async (
  { logOptions, standIn }: OnStandIn & { readonly logOptions: LogOptions },
  { onCleanup }: OnCleanup,
): Promise<EventLog> => {
  const log = await openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, ...logOptions });
  onCleanup(() => log[Symbol.asyncDispose]());
  return log;
};

export const openClient = ({ standIn }: OnStandIn, { onCleanup }: OnCleanup): EventStoreDBClient => {
  const client = EventStoreDBClient.connectionString(standIn.address);
  onCleanup(() => client.dispose());
  return client;
};

/** A stand-in of EventStoreDB for each file, and an event log on it. */
export const test = base
  .extend('standInOptions', { scope: 'file' }, {} as StandInOptions)
  .extend('standIn', { scope: 'file' }, startStandIn)
  .extend('logOptions', { scope: 'file' }, {} as LogOptions)
  .extend('log', { scope: 'file' }, openLog);

/** The same for each test, with a client of EventStoreDB. */
export const freshTest = base
  .extend('standInOptions', {} as StandInOptions)
  .extend('standIn', startStandIn)
  .extend('logOptions', {} as LogOptions)
  .extend('log', openLog)
  .extend('client', openClient);
