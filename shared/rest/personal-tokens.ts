import * as z from 'zod';
import { instant } from '#kernel/base/instant.ts';
import { createdAt, Links } from '#kernel/base/rest/fields.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { timestamp } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { name } from '#shared/commands/fields.ts';
import { policyOf, scopeOf } from '#shared/policy.ts';
import { PERSON_EXPORT } from './person-export.ts';

const EXPIRES = 'When it expires: within a year of its creation.';

/** Personal access tokens and the form for one, with the scopes of the domain. */
export const personalTokenForms = (domain: Domain) => {
  const policy = policyOf(domain);
  const own = scopeOf(policy, 'token.manage');
  // No token can create others.
  const scope = z.enum(policy.scopes.filter((each) => each !== own)).meta({ id: 'PersonalTokenScope' });
  const shown = {
    id: z.string().meta({ readOnly: true, examples: ['k3J9x2PqLm0a'] }),
    name: z.string().meta({ description: 'The name that its owner gave it.', examples: ['Nightly import'] }),
    scopes: z
      .array(z.string())
      .meta({ description: 'The scopes of the token. The current role of its owner limits them.' }),
    createdAt,
    expiresAt: timestamp.meta({ readOnly: true, description: EXPIRES }),
    lastUsedAt: timestamp
      .nullable()
      .meta({ readOnly: true, description: 'When it was last used, accurate to ten minutes.' }),
    _links: Links,
  };
  const PersonalToken = z.strictObject(shown).meta({ id: 'PersonalToken' });
  const PersonalTokenAndSecret = z
    .strictObject({
      ...shown,
      token: z.string().meta({ readOnly: true, description: 'The token itself. It is not shown again.' }),
    })
    .meta({ id: 'PersonalTokenAndSecret' });
  const NewPersonalToken = z
    .strictObject({
      name: name.meta({ examples: ['Nightly import'] }),
      scopes: z
        .array(scope)
        .min(1)
        .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'Must name each scope once.' })
        .meta({
          uniqueItems: true,
          description: 'Scopes of the new token. The access token of the request must have them, too.',
        }),
      expiresAt: instant.meta({ description: EXPIRES }),
    })
    .meta({ id: 'NewPersonalToken' });
  return { PersonalToken, PersonalTokenAndSecret, NewPersonalToken };
};

const all = { right: 'token.manage', role: 'auth', path: '/account/tokens' } as const;

/** The operations of users on their own personal access tokens. */
export const personalTokenOperations = (domain: Domain) => {
  const { PersonalToken, PersonalTokenAndSecret, NewPersonalToken } = personalTokenForms(domain);
  return {
    listPersonalTokens: {
      ...all,
      method: 'GET',
      summary: 'Your personal access tokens, the newest first',
      answer: {
        status: 200,
        description: 'All valid tokens, and those that expired in the last 30 days.',
        kind: 'item',
        schema: z.array(PersonalToken),
      },
    },
    createPersonalToken: {
      ...all,
      method: 'POST',
      summary: 'Create a personal access token; the user must have signed in within the last ten minutes',
      body: { 'application/json': NewPersonalToken },
      refusals: ['sign_in_too_old', 'address_not_confirmed', 'too_many_tokens'],
      answer: {
        status: 201,
        description: 'The token. It is shown only this time.',
        kind: 'written',
        schema: PersonalTokenAndSecret,
      },
    },
    exportOwnData: {
      ...all,
      ...PERSON_EXPORT,
      path: '/account/export',
      method: 'POST',
      summary: 'Everything that is stored about you; you must have signed in within the last ten minutes',
    },
    revokePersonalToken: {
      ...all,
      path: '/account/tokens/{tokenId}',
      method: 'DELETE',
      isUnversioned: true,
      summary: 'Revoke a personal access token',
      answer: {
        status: 204,
        description: 'The token is revoked: it is refused within seconds.',
        kind: 'nothing',
      },
    },
  } as const satisfies Record<string, RestOperation>;
};
