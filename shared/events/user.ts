import * as z from 'zod';
import { email, token } from '#kernel/declare/values.ts';
import { defineEvent } from './define-event.ts';
import { name, role, userId } from './fields.ts';

const stream = { kind: 'user', key: 'userId' } as const;
const personal = { subject: 'userId', fields: ['name', 'email'] } as const;

export const USER_EVENTS = {
  'user.registered': defineEvent({
    type: 'user.registered',
    version: 1,
    visibility: 'public',
    description: 'A user was registered.',
    stream,
    schema: z.strictObject({ userId, name, email: email.nullable(), role }),
    personal,
    upcasters: {},
    example: { userId: 7001, name: 'Ada Lovelace', email: 'ada@example.com', role: 'author' },
  }),
  'user.updated': defineEvent({
    type: 'user.updated',
    version: 1,
    visibility: 'public',
    description: 'A user’s profile or role was changed; only the changed fields are there.',
    stream,
    schema: z.strictObject({
      userId,
      name: name.exactOptional(),
      email: email.nullable().exactOptional(),
      role: role.exactOptional(),
    }),
    personal,
    upcasters: {},
    example: { userId: 7001, email: 'countess@example.com' },
  }),
  'user.deleted': defineEvent({
    type: 'user.deleted',
    version: 1,
    visibility: 'public',
    description: 'A user was deleted; the key of the personal data is destroyed after it.',
    stream,
    schema: z.strictObject({ userId }),
    personal: null,
    upcasters: {},
    example: { userId: 7001 },
  }),
  'user.email_abandoned': defineEvent({
    type: 'user.email_abandoned',
    version: 1,
    visibility: 'internal',
    description:
      'What was announced for the next version of the stream, such as the use of an e-mail address, was given up; moving the version on makes a late use impossible.',
    stream,
    schema: z.strictObject({ userId, claim: token }),
    personal: null,
    upcasters: {},
    example: { userId: 7001, claim: 'email-6XrQ@0' },
  }),
};
