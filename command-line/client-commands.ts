import { ZodError } from 'zod';
import type { Domain } from '#kernel/registry/registry.ts';
import { AUTH_METHODS, type ClientSettings, clientId, clientSettingsOf } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import type { StoredClient } from '../auth/clients/client.ts';
import { findNewScopes, grantScopes } from '../auth/clients/new-scopes.ts';
import { representationOf } from '../auth/clients/representation.ts';
import { withClients } from './client-store.ts';
import type { Command, Given } from './command.ts';
import { UsageError } from './usage-error.ts';

const PAGE = 100;
const PAGES_MAX = 10_000;
const MINUTE_CHARACTERS = '2026-11-21T15:04'.length;

export const clientList: Command = {
  name: 'client list',
  summary: 'Lists the OAuth clients.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each whole, as one line of JSON.' } },
  examples: ['client list'],
  run: (given, terminal) =>
    withClients(terminal, async (clients) => {
      const print = given.flags.has('json')
        ? (client: StoredClient, usedAt: Date | undefined) =>
            JSON.stringify(representationOf({ client, usedAt }))
        : clientLine;
      let after = '';
      for (let page = 0; page < PAGES_MAX && !terminal.signal.aborted; page += 1) {
        const found = await clients.list(after, PAGE);
        const uses = await clients.usesOf(found.map(({ clientId }) => clientId));
        for (const client of found) await terminal.write(print(client, uses.get(client.clientId)));
        if (found.length < PAGE) return;
        after = found.at(-1)?.clientId ?? after;
      }
    }),
};

const clientLine = (
  { clientId, name, disabled, selfRegistered, scopes }: StoredClient,
  usedAt: Date | undefined,
): string => {
  const remarks = [
    ...(disabled ? ['disabled'] : []),
    ...(selfRegistered ? ['registered itself'] : []),
    usedAt === undefined ? 'never used' : `last used ${usedAt.toISOString().slice(0, MINUTE_CHARACTERS)}Z`,
  ];
  return [clientId, JSON.stringify(name), scopes.join(' ') || 'no scopes', ...remarks].join('  ');
};

export const clientShow: Command = {
  name: 'client show',
  summary: 'Shows an OAuth client, without its secret.',
  positionals: ['<id>'],
  options: {},
  examples: ['client show importer'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withClients(terminal, async (clients) => {
      const client = await clients.find(id);
      if (client === undefined) throw new StartRefused(`There is no client ${id}.`);
      const usedAt = (await clients.usesOf([id])).get(id);
      await terminal.write(JSON.stringify(representationOf({ client, usedAt }), undefined, 2));
    }),
};

export const clientRotateSecret: Command = {
  name: 'client rotate-secret',
  summary: 'Creates a new secret for a client and prints it once. The old secret and its tokens end.',
  positionals: ['<id>'],
  options: {},
  examples: ['client rotate-secret importer'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withClients(terminal, async (clients, by) => {
      const { secret } = await clients.rotateSecret(id, by);
      await terminal.write(secret ?? '');
    }),
};

export const clientDelete: Command = {
  name: 'client delete',
  summary: 'Deletes a client. Its tokens and grants end; its changes stay.',
  positionals: ['<id>'],
  options: {},
  examples: ['client delete importer'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withClients(terminal, async (clients, by) => {
      await clients.remove(id, undefined, by);
      await terminal.write(`${id} is deleted.`);
    }),
};

export const clientGrantScopes: Command = {
  name: 'client grant-scopes',
  summary:
    'Grants a client the scopes that are new in the domain since its last change, or those of --scope.',
  positionals: ['[<id>]'],
  options: {
    all: { type: 'boolean', description: 'Every client that lacks a scope which is new.' },
    scope: { type: 'string', placeholder: '<scopes>', description: 'These instead, separated by spaces.' },
  },
  examples: [
    'client grant-scopes --all',
    'client grant-scopes importer',
    `client grant-scopes importer --scope 'read:{path}'`,
  ],
  async run({ positionals: [id], flags, values }, terminal) {
    if (flags.has('all') === (id !== undefined)) throw new UsageError('say which client: its <id>, or --all');
    const wanted = values.get('scope')?.at(-1)?.split(' ').filter(Boolean);
    if (wanted !== undefined && id === undefined)
      throw new UsageError('--scope goes with the <id> of a client');
    const { scopes } = policyOf(terminal.domain);
    await withClients(terminal, async (clients, by, pool) => {
      const unknown = wanted?.find((scope) => !scopes.includes(scope));
      if (unknown !== undefined)
        throw new StartRefused(`There is no scope ${unknown}: there are ${scopes.join(' ')}.`);
      const lacking = await findNewScopes(pool, scopes);
      const granted =
        id !== undefined && wanted !== undefined
          ? [{ clientId: id, scopes: wanted }]
          : lacking.filter(({ clientId }) => id === undefined || clientId === id);
      for (const each of granted) {
        const client = await grantScopes(clients, each, by);
        await terminal.write(`${each.clientId} may ask for ${client.scopes.join(' ')}.`);
      }
      if (granted.length === 0) await terminal.write(`No scope is new to ${id ?? 'any client'}.`);
    });
  },
};

export const clientCreate: Command = {
  name: 'client create',
  summary: 'Registers an OAuth client and prints its secret once.',
  positionals: ['<name>'],
  options: {
    id: { type: 'string', placeholder: '<id>', description: 'A readable id, instead of one made up.' },
    'redirect-uri': {
      type: 'string',
      multiple: true,
      placeholder: '<uri>',
      description: 'Lets users sign in and come back here; may be given several times.',
    },
    device: { type: 'boolean', description: 'Lets users sign in on another device, by a code.' },
    service: { type: 'boolean', description: 'Lets it act for itself, as a user of its own.' },
    role: { type: 'string', placeholder: '<role>', description: 'The role of that user: {roles} ({least}).' },
    scope: {
      type: 'string',
      placeholder: '<scopes>',
      description: 'The scopes that it may ask for, separated by spaces.',
    },
    'default-scope': {
      type: 'string',
      placeholder: '<scopes>',
      description: 'Those it gets when it names none; else all of them.',
    },
    auth: {
      type: 'string',
      placeholder: '<method>',
      description: `How it proves who it is: ${AUTH_METHODS.join(', ')}.`,
    },
    'first-party': { type: 'boolean', description: 'Is our own: its users are not asked for consent.' },
    'require-dpop': { type: 'boolean', description: 'Gets only tokens that are bound to a key.' },
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
    if (made.secret !== undefined) terminal.complain('Keep the secret: it is not shown again.');
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
  const isForPersons = redirectUris.length > 0 || given.flags.has('device');
  if (!isService && !isForPersons)
    throw new UsageError('say what it is for: --redirect-uri, --device, or --service');
  try {
    const settings = clientSettingsOf(domain).ClientSettings.parse({
      name: given.positionals[0],
      grantTypes: [
        ...(redirectUris.length > 0 ? ['authorization_code'] : []),
        ...(given.flags.has('device') ? ['urn:ietf:params:oauth:grant-type:device_code'] : []),
        ...(isForPersons ? ['refresh_token'] : []),
        ...(isService ? ['client_credentials'] : []),
      ],
      redirectUris,
      scopes: words('scope'),
      defaultScopes: words('default-scope'),
      tokenEndpointAuthMethod: one('auth') ?? (isService ? 'client_secret_basic' : 'none'),
      firstParty: given.flags.has('first-party'),
      requireDpop: given.flags.has('require-dpop'),
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

/** The options for the settings of a client. */
const OPTIONS: Readonly<Record<string, string>> = {
  name: '<name>',
  redirectUris: '--redirect-uri',
  scopes: '--scope',
  defaultScopes: '--default-scope',
  tokenEndpointAuthMethod: '--auth',
  firstParty: '--first-party',
  requireDpop: '--require-dpop',
  serviceAccountRole: '--role',
};

const optionFor = (field: PropertyKey | undefined): string =>
  field === undefined ? '--id' : (OPTIONS[String(field)] ?? String(field));
