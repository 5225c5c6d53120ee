import { readFileSync } from 'node:fs';
import { ZodError } from 'zod';
import type { Domain } from '#kernel/registry/registry.ts';
import {
  AUTH_METHODS,
  type ClientSettings,
  clientId,
  clientSettingsOf,
  TOKEN_EXCHANGE,
} from '#shared/clients/settings.ts';
import { representationOf } from '../auth/clients/representation.ts';
import type { Command, Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { withClients } from './installation/client-store.ts';

export const clientCreate: Command = {
  name: 'client create',
  summary: 'Registers an OAuth client and prints its secret once.',
  positionals: ['<name>'],
  options: {
    id: { type: 'string', placeholder: '<id>', description: 'A readable id, instead of a generated one.' },
    'redirect-uri': {
      type: 'string',
      multiple: true,
      placeholder: '<uri>',
      description: 'Lets users sign in, and returns them to this URI; can be repeated.',
    },
    device: { type: 'boolean', description: 'Lets users sign in on another device, with a code.' },
    service: { type: 'boolean', description: 'Lets the client act for itself, as a service account.' },
    agent: { type: 'boolean', description: 'Lets the client act for users whose tokens it has.' },
    role: {
      type: 'string',
      placeholder: '<role>',
      description: 'The role of the service account: {roles} ({least}).',
    },
    scope: {
      type: 'string',
      placeholder: '<scopes>',
      description: 'The scopes that it may request, separated by spaces.',
    },
    'default-scope': {
      type: 'string',
      placeholder: '<scopes>',
      description: 'The scopes that it gets if it requests none; by default all.',
    },
    auth: {
      type: 'string',
      placeholder: '<method>',
      description: `How it authenticates: ${AUTH_METHODS.join(', ')}.`,
    },
    'first-party': {
      type: 'boolean',
      description: 'Marks it as your own: its users are not asked for consent.',
    },
    jwks: {
      type: 'string',
      placeholder: '<file>',
      description: 'Its public keys (JSON Web Key Set), for private_key_jwt and self_signed_tls_client_auth.',
    },
    'tls-subject': {
      type: 'string',
      placeholder: '<subject>',
      description: 'The subject of its certificate, for tls_client_auth.',
    },
    'require-dpop': { type: 'boolean', description: 'Restricts it to tokens that are bound to a key.' },
    'require-par': { type: 'boolean', description: 'Restricts it to pushed authorization requests.' },
  },
  examples: [
    `client create 'Importer' --id importer --service --role {role} --scope 'read:{path} write:{path}'`,
    `client create 'Web' --redirect-uri https://app.example/callback --scope 'openid read:{path}'`,
  ],
  async run(given, terminal) {
    const { id, settings } = readRequest(terminal.domain, given);
    const made = await withClients(terminal, (clients, by) =>
      clients.register({ clientId: id, settings }, by),
    );
    await terminal.write(JSON.stringify(representationOf({ ...made, usedAt: undefined }), undefined, 2));
    if (made.secret !== undefined) terminal.complain('Save the secret: it is not shown again.');
  },
};

const readRequest = (
  domain: Domain,
  given: Given,
): { readonly id: string | undefined; readonly settings: ClientSettings } => {
  const one = (option: string): string | undefined => given.values.get(option)?.at(-1);
  const words = (option: string): string[] | undefined => one(option)?.split(' ').filter(Boolean);
  const redirectUris = given.values.get('redirect-uri') ?? [];
  const isService = given.flags.has('service');
  const isAgent = given.flags.has('agent');
  const isForPersons = redirectUris.length > 0 || given.flags.has('device');
  if (!isService && !isAgent && !isForPersons)
    throw new UsageError('give at least one of --redirect-uri, --device, --service and --agent');
  try {
    const settings = clientSettingsOf(domain).ClientSettings.parse({
      name: given.positionals[0],
      grantTypes: [
        ...(redirectUris.length > 0 ? ['authorization_code'] : []),
        ...(given.flags.has('device') ? ['urn:ietf:params:oauth:grant-type:device_code'] : []),
        ...(isForPersons ? ['refresh_token'] : []),
        ...(isService ? ['client_credentials'] : []),
        ...(isAgent ? [TOKEN_EXCHANGE] : []),
      ],
      redirectUris,
      scopes: words('scope'),
      defaultScopes: words('default-scope'),
      tokenEndpointAuthMethod: one('auth') ?? (isService || isAgent ? 'client_secret_basic' : 'none'),
      firstParty: given.flags.has('first-party'),
      requireDpop: given.flags.has('require-dpop'),
      requirePar: given.flags.has('require-par'),
      ...(one('jwks') !== undefined && { jwks: readKeys(one('jwks') ?? '') }),
      tlsClientAuthSubject: one('tls-subject'),
      serviceAccountRole: one('role'),
    });
    return { id: one('id') === undefined ? undefined : clientId.parse(one('id')), settings };
  } catch (error) {
    if (error instanceof ZodError)
      throw new UsageError(
        error.issues
          .filter(({ path: [field] }) => field !== 'defaultScopes' || one('default-scope') !== undefined)
          .map(({ path, message }) => `${optionFor(path[0])}: ${message.replace(/\.$/, '')}`)
          .join('; '),
      );
    throw error;
  }
};

const readKeys = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new UsageError(`--jwks: ${file} is no readable JSON file`);
  }
};

/** The options for the settings of a client. */
const OPTIONS: Readonly<Record<string, string>> = {
  name: '<name>',
  redirectUris: '--redirect-uri',
  scopes: '--scope',
  defaultScopes: '--default-scope',
  tokenEndpointAuthMethod: '--auth',
  firstParty: '--first-party',
  jwks: '--jwks',
  tlsClientAuthSubject: '--tls-subject',
  requireDpop: '--require-dpop',
  requirePar: '--require-par',
  serviceAccountRole: '--role',
};

const optionFor = (field: PropertyKey | undefined): string =>
  field === undefined ? '--id' : (OPTIONS[String(field)] ?? String(field));
