import * as z from 'zod';
import { defineEvent, type EventDefinition } from '#kernel/base/events/define-event.ts';
import { version } from '#kernel/base/events/fields.ts';
import { timestamp, token } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';

const stream = { kind: 'limit', key: null } as const;
const id = z.int().positive();

const LIMIT_CLAIM_EVENTS = {
  'limit.claimed': defineEvent({
    type: 'limit.claimed',
    version: 1,
    visibility: 'internal',
    description:
      'One of the remaining places of a limit was claimed for an aggregate, to be used by the append that expects this version.',
    stream,
    schema: z.strictObject({ limit: token, id, version, at: timestamp }),
    personal: null,
    upcasters: {},
    example: { limit: 'claim.open', id: 8001, version: 0, at: '2026-01-02T03:04:05.678Z' },
  }),
  'limit.released': defineEvent({
    type: 'limit.released',
    version: 1,
    visibility: 'internal',
    description: 'A claimed place of a limit became free again.',
    stream,
    schema: z.strictObject({ limit: token, id }),
    personal: null,
    upcasters: {},
    example: { limit: 'claim.open', id: 8001 },
  }),
};

/** Events of a domain with a limit, or with a former one. */
export const limitClaimEventsOf = ({ kinds }: Domain): Readonly<Record<string, EventDefinition>> =>
  Object.values(kinds).some(({ events }) => 'claim_abandoned' in events) ? LIMIT_CLAIM_EVENTS : {};
