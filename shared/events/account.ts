import * as z from 'zod';
import { defineEvent } from '#kernel/base/events/define-event.ts';
import { scopeNames, userId } from '#kernel/base/events/fields.ts';
import { timestamp, token } from '#kernel/base/values.ts';

/** Changes of the ways in which a user signs in, apart from their profile. */
const account = { kind: 'account', key: 'userId' } as const;

const visibleTo = { right: 'user.read_private', owner: 'userId' } as const;
const common = { version: 1, visibility: 'public', visibleTo, personal: null, upcasters: {} } as const;

const accessToken = z.strictObject({ userId, tokenId: token });
const identity = z.strictObject({ userId, identityId: token, upstream: token });
const agent = z.strictObject({ userId, clientId: token });
const passkey = z.strictObject({ userId, passkeyId: token });

export const ACCOUNT_EVENTS = {
  'account.password_changed': defineEvent({
    ...common,
    type: 'account.password_changed',
    description: 'A user changed the password, with the former password or by a link in a mail.',
    stream: account,
    schema: z.strictObject({ userId, by: z.enum(['password', 'link']) }),
    example: { userId: 7001, by: 'password' },
  }),
  'account.reset_requested': defineEvent({
    ...common,
    type: 'account.reset_requested',
    description: 'A link to choose a new password was created for a user.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.reclaimed': defineEvent({
    ...common,
    type: 'account.reclaimed',
    description:
      'The owner of an e-mail address chose a password, by a link in a mail, for an account with an unconfirmed address. Everything added before ends: passkeys, codes, sessions, grants and webhooks.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.passkey_added': defineEvent({
    ...common,
    type: 'account.passkey_added',
    description: 'A user added a passkey to sign in with.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.passkey_removed': defineEvent({
    ...common,
    type: 'account.passkey_removed',
    description: 'A passkey was removed from an account: nobody can sign in with it any more.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.passkey_refused': defineEvent({
    ...common,
    type: 'account.passkey_refused',
    description:
      'A passkey was valid but its counter was not, so a copy of it exists. The sign-in was refused.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.identity_linked': defineEvent({
    ...common,
    type: 'account.identity_linked',
    description:
      'A user can sign in with an account at an identity provider from now on: they linked it, its address is that of their account, or their account was created for it.',
    stream: account,
    schema: identity.extend({ by: z.enum(['user', 'email', 'creation']) }),
    example: { userId: 7001, identityId: 'mB4c', upstream: 'google', by: 'user' },
  }),
  'account.identity_unlinked': defineEvent({
    ...common,
    type: 'account.identity_unlinked',
    description: 'An account at an identity provider no longer signs in to this account.',
    stream: account,
    schema: identity,
    example: { userId: 7001, identityId: 'mB4c', upstream: 'google' },
  }),
  'account.agent_ended': defineEvent({
    ...common,
    type: 'account.agent_ended',
    description: 'A user ended the access of an agent: it gets no more tokens of theirs by token exchange.',
    stream: account,
    schema: agent,
    example: { userId: 7001, clientId: 'claims-bot' },
  }),
  'account.agent_allowed': defineEvent({
    ...common,
    type: 'account.agent_allowed',
    description: 'A user allowed an agent again whose access they had ended.',
    stream: account,
    schema: agent,
    example: { userId: 7001, clientId: 'claims-bot' },
  }),
  'account.token_created': defineEvent({
    ...common,
    type: 'account.token_created',
    description:
      'A user created a personal access token: its holder can act for the user within its scopes, until it expires.',
    stream: account,
    schema: accessToken.extend({ scopes: scopeNames, expiresAt: timestamp }),
    example: {
      userId: 7001,
      tokenId: 'k3J9x2Pq',
      scopes: ['read:events'],
      expiresAt: '2026-02-01T00:00:00.000Z',
    },
  }),
  'account.token_revoked': defineEvent({
    ...common,
    type: 'account.token_revoked',
    description: 'A personal access token was revoked before it expired.',
    stream: account,
    schema: accessToken,
    example: { userId: 7001, tokenId: 'k3J9x2Pq' },
  }),
  'account.deactivated': defineEvent({
    ...common,
    type: 'account.deactivated',
    description:
      'An administrator deactivated an account: nobody can sign in to it or act for it until it is reactivated.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.reactivated': defineEvent({
    ...common,
    type: 'account.reactivated',
    description: 'An administrator reactivated an account.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.data_exported': defineEvent({
    ...common,
    type: 'account.data_exported',
    description:
      'Everything that is stored about a user was requested as a file: by the user, or by an administrator or an operator for them.',
    stream: account,
    schema: z.strictObject({ userId, format: z.enum(['json', 'html']) }),
    example: { userId: 7001, format: 'html' },
  }),
  'account.second_factor_added': defineEvent({
    ...common,
    type: 'account.second_factor_added',
    description:
      'A user turned on the second factor: signing in needs the password and a code of an authenticator app.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.second_factor_removed': defineEvent({
    ...common,
    type: 'account.second_factor_removed',
    description:
      'A user turned off the second factor: the password is enough to sign in, and the recovery codes are invalid.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.recovery_codes_renewed': defineEvent({
    ...common,
    type: 'account.recovery_codes_renewed',
    description: 'A user got new recovery codes; the former ones are invalid.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.recovery_code_used': defineEvent({
    ...common,
    type: 'account.recovery_code_used',
    description: 'A user signed in with a recovery code, which cannot be used again.',
    stream: account,
    schema: z.strictObject({ userId, left: z.int().nonnegative() }),
    example: { userId: 7001, left: 9 },
  }),
};
