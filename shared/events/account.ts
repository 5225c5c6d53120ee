import * as z from 'zod';
import { timestamp, token } from '#kernel/declare/values.ts';
import { defineEvent } from './define-event.ts';
import { names, userId } from './fields.ts';

/** Changes of the ways in which a user signs in, apart from their profile. */
const account = { kind: 'account', key: 'userId' } as const;

const visibleTo = { right: 'user.read_private', owner: 'userId' } as const;
const common = { version: 1, visibility: 'public', visibleTo, personal: null, upcasters: {} } as const;

const accessToken = z.strictObject({ userId, tokenId: token });
const passkey = z.strictObject({ userId, passkeyId: token });

export const ACCOUNT_EVENTS = {
  'account.password_changed': defineEvent({
    ...common,
    type: 'account.password_changed',
    description: 'Somebody changed their password, by the one before it or by a link that was sent to them.',
    stream: account,
    schema: z.strictObject({ userId, by: z.enum(['password', 'link']) }),
    example: { userId: 7001, by: 'password' },
  }),
  'account.reset_requested': defineEvent({
    ...common,
    type: 'account.reset_requested',
    description: 'A link by which a new password can be chosen was made for somebody.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.reclaimed': defineEvent({
    ...common,
    type: 'account.reclaimed',
    description:
      'The owner of an e-mail address chose a password, by a link in a mail, for an account whose address nobody had confirmed. Everything added before ends: passkeys, codes, sessions, grants and webhooks.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.passkey_added': defineEvent({
    ...common,
    type: 'account.passkey_added',
    description: 'Somebody can sign in with one more passkey.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.passkey_removed': defineEvent({
    ...common,
    type: 'account.passkey_removed',
    description: 'A passkey was taken off an account: nobody can sign in with it any more.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.passkey_refused': defineEvent({
    ...common,
    type: 'account.passkey_refused',
    description:
      'A passkey was right and its counter was not, so there is a copy of it; nobody was signed in.',
    stream: account,
    schema: passkey,
    example: { userId: 7001, passkeyId: 'vW9z' },
  }),
  'account.token_created': defineEvent({
    ...common,
    type: 'account.token_created',
    description:
      'Somebody created a personal access token: whoever has it can act for them within its scopes, until it expires.',
    stream: account,
    schema: accessToken.extend({ scopes: names, expiresAt: timestamp }),
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
      'An administrator deactivated an account: nobody signs in to it or acts for it until it is reactivated.',
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
  'account.second_factor_added': defineEvent({
    ...common,
    type: 'account.second_factor_added',
    description: 'Somebody signs in with a code of an app beside the password from here on.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.second_factor_removed': defineEvent({
    ...common,
    type: 'account.second_factor_removed',
    description:
      'The password of somebody is enough again to sign in; the recovery codes ended with the second factor.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.recovery_codes_renewed': defineEvent({
    ...common,
    type: 'account.recovery_codes_renewed',
    description: 'Somebody got new recovery codes, and those of before ended.',
    stream: account,
    schema: z.strictObject({ userId }),
    example: { userId: 7001 },
  }),
  'account.recovery_code_used': defineEvent({
    ...common,
    type: 'account.recovery_code_used',
    description: 'Somebody signed in with a recovery code, which is good no more.',
    stream: account,
    schema: z.strictObject({ userId, left: z.int().nonnegative() }),
    example: { userId: 7001, left: 9 },
  }),
};
