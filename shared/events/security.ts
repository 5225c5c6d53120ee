import * as z from 'zod';
import { defineEvent } from '#kernel/base/events/define-event.ts';
import { names, scopeNames, userId } from '#kernel/base/events/fields.ts';
import { day, token } from '#kernel/base/values.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { ACCOUNT_EVENTS } from './account.ts';

/**
 * Security events of the authorization server. They have streams of their own, never a user’s, and hold no
 * personal field: users are named by id.
 */
const session = { kind: 'session', key: 'sessionId' } as const;
const grant = { kind: 'grant', key: 'grantId' } as const;
const client = { kind: 'client', key: 'clientId' } as const;
const invitation = { kind: 'invitation', key: 'invitationId' } as const;

const visibleTo = { right: 'user.read_private', owner: 'userId' } as const;
const common = { version: 1, visibility: 'public', visibleTo, personal: null, upcasters: {} } as const;

const SESSION_EVENTS = {
  'session.signed_in': defineEvent({
    ...common,
    type: 'session.signed_in',
    description: 'Somebody signed in.',
    stream: session,
    schema: z.strictObject({ sessionId: token, userId, method: token }),
    example: { sessionId: 'gK3v', userId: 7001, method: 'password' },
  }),
  'session.sign_in_failed': defineEvent({
    ...common,
    type: 'session.sign_in_failed',
    description: 'Too many failed attempts locked the sign-in for a while. Single failures have no event.',
    stream: session,
    schema: z.strictObject({ sessionId: token, userId: userId.nullable(), attempts: z.int().positive() }),
    example: { sessionId: 'gK3v', userId: 7001, attempts: 10 },
  }),
  'session.signed_out': defineEvent({
    ...common,
    type: 'session.signed_out',
    description: 'Somebody signed out.',
    stream: session,
    schema: z.strictObject({ sessionId: token, userId }),
    example: { sessionId: 'gK3v', userId: 7001 },
  }),
};

const grantEventsOf = (domain: Domain) => ({
  'grant.consented': defineEvent({
    ...common,
    type: 'grant.consented',
    description: 'A user allowed a client to act for them within scopes.',
    stream: grant,
    schema: z.strictObject({ grantId: token, userId, clientId: token, scopes: scopeNames }),
    example: { grantId: 'pQ7x', userId: 7001, clientId: 'web', scopes: [`read:${exampleKind(domain).path}`] },
  }),
  'grant.revoked': defineEvent({
    ...common,
    type: 'grant.revoked',
    description: 'A grant was revoked before it expired, and its tokens with it.',
    stream: grant,
    schema: z.strictObject({ grantId: token, userId: userId.nullable(), clientId: token.nullable() }),
    example: { grantId: 'pQ7x', userId: 7001, clientId: 'web' },
  }),
  'token.exchanged': defineEvent({
    ...common,
    type: 'token.exchanged',
    description:
      'An agent, a client, exchanged the token of a user for one of its own, with fewer rights (RFC 8693). It has it from an application of the user.',
    stream: grant,
    schema: z.strictObject({
      grantId: token,
      userId,
      clientId: token,
      application: token,
      scopes: scopeNames,
    }),
    example: {
      grantId: 'pQ7x',
      userId: 7001,
      clientId: 'claims-bot',
      application: 'web',
      scopes: [`read:${exampleKind(domain).path}`],
    },
  }),
  'grant.reuse_detected': defineEvent({
    ...common,
    type: 'grant.reuse_detected',
    description:
      'A code or refresh token was used a second time, so it may have been stolen. Its grant was revoked.',
    stream: grant,
    schema: z.strictObject({
      grantId: token,
      userId: userId.nullable(),
      clientId: token.nullable(),
      reused: z.enum(['authorization_code', 'refresh_token', 'device_code']),
    }),
    example: { grantId: 'pQ7x', userId: 7001, clientId: 'web', reused: 'refresh_token' },
  }),
});

const CLIENT_EVENTS = {
  'client.registered': defineEvent({
    ...common,
    type: 'client.registered',
    description: 'A client was registered.',
    stream: client,
    schema: z.strictObject({ clientId: token, selfRegistered: z.boolean() }),
    example: { clientId: 'web', selfRegistered: false },
  }),
  'client.changed': defineEvent({
    ...common,
    type: 'client.changed',
    description: 'Settings of a client were changed. The event has their names, not their values.',
    stream: client,
    schema: z.strictObject({ clientId: token, changed: names }),
    example: { clientId: 'web', changed: ['redirectUris'] },
  }),
  'client.secret_rotated': defineEvent({
    ...common,
    type: 'client.secret_rotated',
    description: 'A client got a new secret.',
    stream: client,
    schema: z.strictObject({ clientId: token }),
    example: { clientId: 'web' },
  }),
  'client.deleted': defineEvent({
    ...common,
    type: 'client.deleted',
    description: 'A client was deleted, and its tokens revoked.',
    stream: client,
    schema: z.strictObject({ clientId: token }),
    example: { clientId: 'web' },
  }),
};

/** Of an auditor. */
const UNTIL = { until: day.optional() };

const invitationEventsOf = (domain: Domain) => ({
  'invitation.made': defineEvent({
    ...common,
    type: 'invitation.made',
    description: 'Somebody was invited to create an account with a role.',
    stream: invitation,
    schema: z.strictObject({
      invitationId: token,
      role: z.enum(rolesOf(domain)),
      ...((domain.auditors === true ? UNTIL : {}) as typeof UNTIL),
    }),
    example: { invitationId: 'rT5w', role: domain.signUp },
  }),
  'invitation.accepted': defineEvent({
    ...common,
    type: 'invitation.accepted',
    description: 'Somebody who was invited created their account.',
    stream: invitation,
    schema: z.strictObject({ invitationId: token, userId }),
    example: { invitationId: 'rT5w', userId: 7001 },
  }),
  'invitation.revoked': defineEvent({
    ...common,
    type: 'invitation.revoked',
    description: 'An invitation was revoked before it was accepted.',
    stream: invitation,
    schema: z.strictObject({ invitationId: token }),
    example: { invitationId: 'rT5w' },
  }),
});

/** Roles are the domain’s. */
export const securityEventsOf = (domain: Domain) => ({
  ...SESSION_EVENTS,
  ...grantEventsOf(domain),
  ...CLIENT_EVENTS,
  ...ACCOUNT_EVENTS,
  ...invitationEventsOf(domain),
});
