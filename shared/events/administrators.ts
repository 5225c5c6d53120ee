import * as z from 'zod';
import { defineEvent } from '#kernel/base/events/define-event.ts';
import { userId, version } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';

/**
 * All administrators share one stream, so that concurrent losses of the role are decided one after the other.
 */
const stream = { kind: 'administrators', key: null } as const;

export const ADMINISTRATOR_EVENTS = {
  'administrator.appointed': defineEvent({
    type: 'administrator.appointed',
    version: 1,
    visibility: 'internal',
    description:
      'A user is about to become an administrator. When another administrator leaves, it is checked whether this user is one.',
    stream,
    schema: z.strictObject({ userId }),
    personal: null,
    upcasters: {},
    example: { userId: 7001 },
  }),
  'administrator.leaving': defineEvent({
    type: 'administrator.leaving',
    version: 1,
    visibility: 'internal',
    description:
      'A user is about to stop being an administrator, by the append that expects this version of the user’s stream.',
    stream,
    schema: z.strictObject({ userId, userVersion: version, at: timestamp }),
    personal: null,
    upcasters: {},
    example: { userId: 7001, userVersion: 3, at: '2026-01-02T03:04:05.678Z' },
  }),
};
