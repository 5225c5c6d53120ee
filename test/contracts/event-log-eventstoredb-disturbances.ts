import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ANY, BACKWARDS, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { vi } from 'vitest';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import type { Disturbance, LogEngine } from './event-log-engine.ts';

const EVERY_MS = 30;
/** A sixteenth of the streams in turn, so that each writer is hit now and then and none constantly. */
const eventsOfSome = (n: number) => ({ stream: `thing-${(n % 16).toString(16)}` });
const ALL = { stream: '$all' };

/**
 * Faults of a server, its network and its client, each several times a second, all to be survived without
 * loss.
 */
export const disturbancesOn = (standIn: EventStoreStandIn): readonly Disturbance[] => {
  const { faults } = standIn;
  const appends = (name: string, ...kinds: Parameters<typeof faults.appends>[0][]) =>
    repeating(name, standIn, (n) => faults.appends(next(kinds, n), eventsOfSome(n)));
  const reads = (name: string, ...kinds: Parameters<typeof faults.reads>[0][]) =>
    repeating(name, standIn, (n) => faults.reads(next(kinds, n), ALL));
  return [
    repeating('subscriptions dropped as too slow', standIn, () => standIn.endSubscriptions('too-slow')),
    repeating('subscriptions that end in silence', standIn, () => standIn.endSubscriptions('silent-end')),
    repeating('subscriptions dropped before they are live', standIn, (n) =>
      faults.subscriptions({ kind: n % 2 ? 'too-slow' : 'silent-end', at: 'transition' }, ALL),
    ),
    appends(
      'appends that stay unanswered',
      { kind: 'unanswered', stored: true },
      { kind: 'unanswered', stored: false },
    ),
    appends('appends that are answered twice', { kind: 'answered-twice' }),
    appends('answers without a position', { kind: 'without-position' }),
    appends(
      'appends past their deadline',
      { kind: 'timeout', stored: true },
      { kind: 'timeout', stored: false },
    ),
    appends(
      'failures of the call that carries the appends',
      { kind: 'stream-error', stored: true },
      { kind: 'stream-error', stored: false },
    ),
    reads('pages cut short', { kind: 'cut', afterEvents: 1 }, { kind: 'cut', afterEvents: 3 }),
    reads(
      'pages that fail in the middle',
      { kind: 'error', afterEvents: 0 },
      { kind: 'error', afterEvents: 3 },
    ),
    reads('pages that stay unanswered', { kind: 'unanswered' }, { kind: 'delayed', delayMs: 100 }),
    repeating('connections that are reset', standIn, (n) => n % 5 === 0 && standIn.dropConnections()),
    noiseOfTheSystem(standIn.address),
  ];
};

const next = <Kind>(kinds: readonly Kind[], n: number): Kind => {
  const kind = kinds[n % kinds.length];
  if (kind === undefined) throw new Error('there is no fault to order');
  return kind;
};

const repeating = (
  name: string,
  { faults }: EventStoreStandIn,
  disturb: (n: number) => unknown,
): Disturbance => ({
  name,
  during: async (signal) => {
    for (let n = 0; !signal.aborted; n += 1) {
      // Faults that meet no request would pile up while all writers wait.
      faults.clear();
      disturb(n);
      await delay(EVERY_MS);
    }
    faults.clear();
    return [];
  },
});

/**
 * Records that a server writes beside the events: metadata, statistics, records with a type of its own. It
 * needs no stand-in.
 */
export const noiseOfTheSystem = (url: string): Disturbance => ({
  name: 'noise of system events',
  during: async (signal) => {
    const client = EventStoreDBClient.connectionString(url);
    while (!signal.aborted) {
      const stream = `noise-${randomUUID()}`;
      await client.setStreamMetadata(stream, { maxAge: 3_600 });
      await client.appendToStream(stream, jsonEvent({ type: '$noise', data: {} }), { expectedRevision: ANY });
      await client.appendToStream(`$noise-${stream}`, jsonEvent({ type: 'noise', data: {} }), {
        expectedRevision: ANY,
      });
    }
    await client.dispose();
    return [];
  },
});

/** Forward reads, as followers use. */
export const countLooks: LogEngine['countLooks'] = () => {
  const spy = vi.spyOn(EventStoreDBClient.prototype, 'readAll');
  const isLook = ([options]: Parameters<EventStoreDBClient['readAll']>) =>
    options?.direction !== BACKWARDS && options?.maxCount !== 1;
  return { count: () => spy.mock.calls.filter(isLook).length, [Symbol.dispose]: () => spy.mockRestore() };
};
