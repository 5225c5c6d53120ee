// Over 200 lines, because it is one thing: the operations on clients.
import * as z from 'zod';
import { createdAt, id, Links, unheeded, updatedAt } from '#kernel/base/rest/fields.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { timestamp, token } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAddress } from '#shared/clients/document-address.ts';
import {
  checkTogether,
  clientIdOrAddress,
  clientSettingsOf,
  withDefaultScopes,
} from '#shared/clients/settings.ts';

/** A client that sends back a representation may leave read-only members in it. */
const UNHEEDED = {
  clientId: unheeded,
  secret: unheeded,
  serviceAccount: unheeded,
  selfRegistered: unheeded,
  lastUsedAt: unheeded,
  createdAt: unheeded,
  updatedAt: unheeded,
  _links: unheeded,
};
type Unheeded = { readonly [Name in keyof typeof UNHEEDED]?: unknown };

const withoutUnheeded = <Sent extends Unheeded>(sent: Sent): Omit<Sent, keyof Unheeded> => {
  const {
    clientId,
    secret,
    serviceAccount,
    selfRegistered,
    lastUsedAt,
    createdAt,
    updatedAt,
    _links,
    ...settings
  } = sent;
  return settings;
};

const LIMIT = 20;
const LIMIT_MAX = 100;

const cursor = z
  .base64url()
  .max(400)
  .transform((text) => Buffer.from(text, 'base64url').toString())
  .pipe(token);

export const ClientPage = z.object({
  limit: z.coerce.number<string>().pipe(z.int().min(1).max(LIMIT_MAX)).default(LIMIT).meta({
    type: 'integer',
    minimum: 1,
    maximum: LIMIT_MAX,
    description: 'Maximum number of clients on a page.',
  }),
  after: cursor.default('').meta({ description: 'A cursor from a link with rel="next".' }),
});

const all = { right: 'client.manage', role: 'auth' } as const;
const item = { ...all, path: '/clients/{clientId}' } as const;

/** The forms and representations of clients, depending on the scopes of the domain. */
export const clientForms = (domain: Domain) => {
  const { settings, sent } = clientSettingsOf(domain);
  const { serviceAccountRole: _, ...shown } = settings;
  const Client = z
    .strictObject({
      clientId: z.string().meta({ readOnly: true }),
      ...shown,
      serviceAccount: id.nullable().meta({
        readOnly: true,
        description: 'The user of its service account, for which it acts without a signed-in user.',
        examples: [1001],
      }),
      selfRegistered: z
        .boolean()
        .meta({ readOnly: true, description: 'Whether it was registered dynamically (RFC 7591).' }),
      lastUsedAt: timestamp.nullable().meta({
        readOnly: true,
        description: 'When it last got a token, accurate to an hour; null if never.',
      }),
      createdAt,
      updatedAt,
      _links: Links,
    })
    // Generated code has a `Client` of its own.
    .meta({ id: 'OAuthClient' });

  /** The one response that shows a secret. */
  const ClientAndSecret = Client.extend({
    secret: z
      .string()
      .exactOptional()
      .meta({ readOnly: true, description: 'Present only when the secret is new. It is not shown again.' }),
  }).meta({ id: 'OAuthClientAndSecret' });

  const NewClient = newClientOf(sent);

  const ClientReplacement = z
    .strictObject({ ...sent, ...UNHEEDED })
    .transform((whole) => withDefaultScopes(withoutUnheeded(whole)))
    .superRefine(checkTogether)
    .meta({
      id: 'OAuthClientReplacement',
      description: 'All settings of the client. A missing setting gets its default.',
    });

  /** `null` resets a setting to its default. */
  const ClientPatch = z
    .strictObject({
      name: settings.name.optional(),
      tokenEndpointAuthMethod: settings.tokenEndpointAuthMethod.nullable().optional(),
      grantTypes: settings.grantTypes.optional(),
      redirectUris: settings.redirectUris.nullable().optional(),
      postLogoutRedirectUris: settings.postLogoutRedirectUris.nullable().optional(),
      scopes: settings.scopes.nullable().optional(),
      defaultScopes: settings.defaultScopes.nullable().optional(),
      firstParty: settings.firstParty.nullable().optional(),
      requireDpop: settings.requireDpop.nullable().optional(),
      requirePar: settings.requirePar.nullable().optional(),
      tlsClientAuthSubject: settings.tlsClientAuthSubject.optional(),
      jwks: settings.jwks.optional(),
      disabled: settings.disabled.nullable().optional(),
      serviceAccountRole: settings.serviceAccountRole.nullable().optional(),
      ...UNHEEDED,
    })
    .transform(withoutUnheeded)
    .meta({ id: 'OAuthClientPatch', description: '`null` resets a setting to its default.' });
  return { Client, ClientAndSecret, NewClient, ClientReplacement, ClientPatch };
};

const newClientOf = (sent: ReturnType<typeof clientSettingsOf>['sent']) =>
  z
    .strictObject({
      clientId: clientIdOrAddress.optional().meta({
        description:
          'By default Annals generates one. The address of a document, with `disabled`, blocks the client that it describes.',
      }),
      ...sent,
    })
    .transform(({ clientId, ...settings }) => ({ clientId, ...withDefaultScopes(settings) }))
    .superRefine(checkTogether)
    .refine(({ clientId = '', disabled }) => disabled || !isAddress(clientId), {
      path: ['disabled'],
      error: 'Must be true if the id is the address of a document: the client can only block it.',
    })
    .meta({ id: 'NewOAuthClient' });

/** Clients are stored by the authorization server; they are neither in the log nor under `/api`. */
export const clientOperations = (domain: Domain) => {
  const { Client, ClientAndSecret, NewClient, ClientReplacement, ClientPatch } = clientForms(domain);
  const changed = {
    status: 200,
    description: 'The client, with its secret if that is new.',
    kind: 'written',
    schema: ClientAndSecret,
  } as const;
  const operations = {
    listClients: {
      ...all,
      method: 'GET',
      path: '/clients',
      summary: 'The clients, by their ids',
      query: ClientPage,
      refusals: ['invalid_request'],
      answer: { status: 200, description: 'A page of clients.', kind: 'list', schema: Client },
    },
    createClient: {
      ...all,
      method: 'POST',
      path: '/clients',
      summary: 'Register a client',
      body: { 'application/json': NewClient },
      refusals: ['conflict', 'client_id_taken'],
      answer: {
        ...changed,
        status: 201,
        description: 'The client. Its secret, if it has one, is shown only this time.',
      },
    },
    getClient: {
      ...item,
      method: 'GET',
      summary: 'A client',
      answer: { status: 200, description: 'The client.', kind: 'item', schema: Client },
    },
    replaceClient: {
      ...item,
      method: 'PUT',
      summary: 'Replace the settings of a client',
      body: { 'application/json': ClientReplacement },
      refusals: ['conflict', 'client_built_in', 'invalid_command'],
      answer: changed,
    },
    editClient: {
      ...item,
      method: 'PATCH',
      summary: 'Change settings of a client',
      body: { 'application/merge-patch+json': ClientPatch, 'application/json': ClientPatch },
      refusals: ['conflict', 'client_built_in', 'invalid_command'],
      answer: changed,
    },
    deleteClient: {
      ...item,
      method: 'DELETE',
      summary: 'Delete a client; its tokens end',
      refusals: ['client_built_in'],
      answer: { status: 204, description: 'The client was deleted.', kind: 'nothing' },
    },
    rotateClientSecret: {
      ...all,
      method: 'POST',
      path: '/clients/{clientId}/secret',
      summary: 'Give a client a new secret; the former one and its tokens end',
      refusals: ['client_built_in', 'client_without_secret'],
      answer: { ...changed, description: 'The client and its new secret.' },
    },
  } as const satisfies Record<string, RestOperation>;
  return operations;
};
