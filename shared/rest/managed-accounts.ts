// Over 200 lines, because it is one interface: the accounts of others.
import * as z from 'zod';
import { id } from '#kernel/base/rest/fields.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { day, email, timestamp } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { PERSON_EXPORT } from './person-export.ts';

const moment = timestamp.nullable();
const scopes = z.array(z.string());

/** The ways in which a user can sign in, and the clients that act for them. */
const ManagedAccount = z
  .strictObject({
    userId: id,
    status: z
      .enum(['active', 'deactivated'])
      .meta({ description: 'Nobody can sign in to a deactivated account or act for it.' }),
    isConfirmed: z.boolean().meta({ description: 'Whether the e-mail address is confirmed.' }),
    hasPassword: z.boolean(),
    hasSecondFactor: z.boolean(),
    passkeys: z.int().nonnegative().meta({ description: 'Number of passkeys.' }),
    identities: z
      .array(
        z.strictObject({
          id: z.string(),
          upstream: z.string().meta({ description: 'The name of the identity provider in the settings.' }),
          linkedAt: timestamp,
          lastUsedAt: moment,
        }),
      )
      .meta({ description: 'The accounts at identity providers with which the user can sign in.' }),
    sessions: z
      .array(
        z.strictObject({
          id: z.string(),
          browser: z.string().nullable(),
          network: z.string().nullable(),
          signedInAt: timestamp,
          lastSeenAt: moment,
        }),
      )
      .meta({ description: 'The browsers in which the user is signed in.' }),
    applications: z
      .array(
        z.strictObject({
          clientId: z.string(),
          name: z.string(),
          scopes,
          allowedAt: timestamp,
          lastUsedAt: moment,
        }),
      )
      .meta({ description: 'Applications and tokens that act for the user.' }),
    tokens: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          scopes,
          createdAt: timestamp,
          expiresAt: timestamp,
          lastUsedAt: moment,
        }),
      )
      .meta({ description: 'The personal access tokens of the user.' }),
  })
  .meta({ id: 'ManagedAccount' });
export type ManagedAccount = Readonly<z.infer<typeof ManagedAccount>>;

/** How much has ended. */
const EndedAccess = z
  .strictObject({
    sessions: z
      .int()
      .nonnegative()
      .meta({ description: 'Number of sessions. Each ended with the console in its browser.' }),
    applications: z.int().nonnegative().meta({ description: 'Number of applications, without the console.' }),
    tokens: z.int().nonnegative().meta({ description: 'Number of personal access tokens.' }),
  })
  .meta({ id: 'EndedAccess' });
export type EndedAccess = Readonly<z.infer<typeof EndedAccess>>;

const UNTIL = {
  until: day.optional().meta({ description: 'The last day of an auditor, in UTC. Others have none.' }),
};

export const invitationForms = (domain: Domain) => {
  const role = z.enum(rolesOf(domain));
  const until = (domain.auditors === true ? UNTIL : {}) as typeof UNTIL;
  const shown = {
    id: z.string().meta({ readOnly: true }),
    email,
    role,
    ...until,
    expiresAt: timestamp.meta({ readOnly: true }),
  };
  const Invitation = z.strictObject(shown).meta({ id: 'Invitation' });
  const MadeInvitation = z
    .strictObject({
      email,
      role,
      ...until,
      link: z.string().nullable().meta({
        description:
          'The link for the invited person, if the installation sends no mail; null if it was sent by mail. It is not shown again.',
      }),
    })
    .meta({ id: 'MadeInvitation' });
  return {
    Invitation,
    MadeInvitation,
    NewInvitation: z.strictObject({ email, role, ...until }).meta({ id: 'NewInvitation' }),
  };
};

const right = { right: 'account.manage', role: 'auth' } as const;
const person = { ...right, path: '/account/people/{userId}' } as const;
const ending = { ...right, method: 'DELETE', isUnversioned: true } as const;
const ended = (description: string) =>
  ({ status: 200, description, kind: 'written', schema: EndedAccess }) as const;
const gone = (description: string) => ({ status: 204, description, kind: 'nothing' }) as const;

/** The operations that end sessions, applications and tokens of a user. */
const ENDINGS = {
  endAccess: {
    ...ending,
    path: '/account/people/{userId}/access',
    summary: 'End all access of a user: sessions, the access of applications, and access tokens',
    answer: ended('Nothing acts for the user any more. They can sign in again.'),
  },
  endSessions: {
    ...ending,
    path: '/account/people/{userId}/sessions',
    summary: 'End all sessions of a user, each with the console in its browser',
    answer: ended('The sessions have ended. Applications and access tokens continue.'),
  },
  endSession: {
    ...ending,
    path: '/account/people/{userId}/sessions/{sessionId}',
    summary: 'End a session of a user, if it is open',
    answer: gone('The session has ended.'),
  },
  endApplication: {
    ...ending,
    path: '/account/people/{userId}/applications/{clientId}',
    summary: 'Revoke the access of an application to a user',
    answer: gone('The application can no longer act for the user.'),
  },
  unlinkIdentity: {
    ...ending,
    path: '/account/people/{userId}/identities/{identityId}',
    summary: 'Unlink an account at an identity provider from the account of a user',
    answer: gone('Nobody can sign in with it any more. Sessions continue.'),
  },
  endTokenOfUser: {
    ...ending,
    path: '/account/people/{userId}/tokens/{tokenId}',
    summary: 'Revoke a personal access token of a user',
    answer: gone('The token is revoked.'),
  },
} as const satisfies Record<string, RestOperation>;

/** The operations of administrators on the accounts of others. */
export const managedAccountOperations = (domain: Domain) => {
  const { Invitation, MadeInvitation, NewInvitation } = invitationForms(domain);
  return {
    getAccount: {
      ...person,
      method: 'GET',
      summary: 'The account of a user: how they can sign in, and which clients act for them',
      answer: { status: 200, description: 'The account.', kind: 'item', schema: ManagedAccount },
    },
    deactivateAccount: {
      ...right,
      path: '/account/people/{userId}/deactivate',
      method: 'POST',
      summary: 'Deactivate an account: its sessions end, and its tokens are refused until it is reactivated',
      refusals: ['account_of_administrator'],
      answer: gone('The account is deactivated.'),
    },
    reactivateAccount: {
      ...right,
      path: '/account/people/{userId}/reactivate',
      method: 'POST',
      summary: 'Reactivate an account',
      answer: gone('The account is active.'),
    },
    ...ENDINGS,
    exportPerson: {
      ...person,
      path: '/account/people/{userId}/export',
      method: 'POST',
      ...PERSON_EXPORT,
      summary:
        'Everything that is stored about a user, for the user; the administrator must have signed in within the last ten minutes',
      refusals: [...PERSON_EXPORT.refusals, 'user_not_found', 'user_deleted'],
    },
    listInvitations: {
      ...right,
      path: '/account/invitations',
      method: 'GET',
      summary: 'The open invitations, the newest first',
      answer: {
        status: 200,
        description: 'Invitations that are neither accepted nor revoked.',
        kind: 'item',
        schema: z.array(Invitation),
      },
    },
    invite: {
      ...right,
      path: '/account/invitations',
      method: 'POST',
      summary: 'Invite somebody to create an account with a role',
      body: { 'application/json': NewInvitation },
      refusals: ['email_taken'],
      answer: {
        status: 201,
        description: 'The invitation. An earlier one to the same address ends.',
        kind: 'written',
        schema: MadeInvitation,
      },
    },
    revokeInvitation: {
      ...ending,
      path: '/account/invitations/{invitationId}',
      summary: 'Revoke an invitation, if it is open',
      answer: gone('The invitation has ended.'),
    },
  } as const satisfies Record<string, RestOperation>;
};
