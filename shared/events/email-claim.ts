import * as z from 'zod';
import { defineEvent } from '#kernel/base/events/define-event.ts';
import { userId, version } from '#kernel/base/events/fields.ts';
import { timestamp } from '#kernel/base/values.ts';

const stream = { kind: 'email', key: null } as const;

export const EMAIL_CLAIM_EVENTS = {
  'email.claimed': defineEvent({
    type: 'email.claimed',
    version: 1,
    visibility: 'internal',
    description:
      'An e-mail address was claimed for a user, to be used by the append that expects this version of the user’s stream.',
    stream,
    schema: z.strictObject({ userId, userVersion: version, at: timestamp }),
    personal: null,
    upcasters: {},
    example: { userId: 7001, userVersion: 0, at: '2026-01-02T03:04:05.678Z' },
  }),
  'email.released': defineEvent({
    type: 'email.released',
    version: 1,
    visibility: 'internal',
    description: 'An e-mail address became free again.',
    stream,
    schema: z.strictObject({ userId }),
    personal: null,
    upcasters: {},
    example: { userId: 7001 },
  }),
};
