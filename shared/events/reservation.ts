import { v5 } from 'uuid';
import * as z from 'zod';
import type { EventId } from '#kernel/base/brands.ts';
import { defineEvent } from '#kernel/base/events/define-event.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { timestamp, token } from '#kernel/base/values.ts';

/**
 * The time for which a request of another process counts as running. After a crash its idempotency key is in use
 * for this long.
 */
export const REQUEST_RUNS_MAX_MS = 10_000;

/** Of which every id of a request is made, so that a retry gets the same ones. */
type Seed = { readonly eventSeed: string; readonly firstId: number };

export const formatSeed = ({ eventSeed, firstId }: Seed): string => `${eventSeed}/${firstId}`;

export const parseSeed = (seed: string): Seed => {
  const [eventSeed = '', firstId] = seed.split('/');
  return { eventSeed, firstId: Number(firstId) };
};

/** The id of the event number `ordinal` of a request, from 0. */
export const seededEventId = (eventSeed: string, ordinal: number): EventId =>
  v5(`event-${ordinal}`, eventSeed) as EventId;

const stream = { kind: 'command', key: null } as const;

/** The response, to be repeated. It stays in the log for ever: ids and codes, never personal data. */
const outcome = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject, JsonObject>;

export const RESERVATION_EVENTS = {
  'command.reserved': defineEvent({
    type: 'command.reserved',
    version: 1,
    visibility: 'internal',
    description:
      'An idempotency key was reserved for a request, with the seed of every id that the request will create.',
    stream,
    schema: z.strictObject({ digest: token, seed: token, at: timestamp, by: token }),
    personal: null,
    upcasters: {},
    example: { digest: 'mZ0x', seed: '0b9f', at: '2026-01-02T03:04:05.678Z', by: 'command-1' },
  }),
  'command.completed': defineEvent({
    type: 'command.completed',
    version: 1,
    visibility: 'internal',
    description: 'The request of an idempotency key was completed.',
    stream,
    schema: z.strictObject({ digest: token, outcome, at: timestamp }),
    personal: null,
    upcasters: {},
    example: { digest: 'mZ0x', outcome: { id: 8001, version: 1 }, at: '2026-01-02T03:04:05.900Z' },
  }),
};
