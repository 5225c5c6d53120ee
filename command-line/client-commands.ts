import { StartRefused } from '#kernel/base/start-refused.ts';
import { isExactAddress } from '#shared/clients/document-address.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import { findNewScopes, grantScopes } from '../auth/clients/new-scopes.ts';
import { representationOf } from '../auth/clients/representation.ts';
import type { StoredClient } from '../auth/storage/client.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { withClients } from './installation/client-store.ts';

const PAGE = 100;
const PAGES_MAX = 10_000;
const MINUTE_CHARACTERS = '2026-11-21T15:04'.length;

export const clientList: Command = {
  name: 'client list',
  summary: 'Lists the OAuth clients.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
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

export const clientBlock: Command = {
  name: 'client block',
  summary:
    'Blocks a client with a document, by its address: its tokens and grants end. `client delete` unblocks it.',
  positionals: ['<address>'],
  options: {},
  examples: ['client block https://agent.example/annals.json'],
  run: ({ positionals: [address = ''] }, terminal) => {
    if (!isExactAddress(address))
      throw new UsageError(`<address> must be the https address of a document, but is “${address}”`);
    const settings = clientSettingsOf(terminal.domain).ClientSettings.parse({
      name: 'Blocked',
      grantTypes: ['authorization_code'],
      redirectUris: [address],
      scopes: ['openid'],
      disabled: true,
    });
    return withClients(terminal, async (clients, by) => {
      await clients.register({ clientId: address, settings }, by);
      await terminal.write(`${address} is blocked. client delete ${address} unblocks it.`);
    });
  },
};

export const clientGrantScopes: Command = {
  name: 'client grant-scopes',
  summary:
    'Grants a client the scopes that are new in the domain since its last change, or those of --scope.',
  positionals: ['[<id>]'],
  options: {
    all: { type: 'boolean', description: 'Grants them to every client that lacks a new scope.' },
    scope: {
      type: 'string',
      placeholder: '<scopes>',
      description: 'Grants these scopes instead, separated by spaces.',
    },
  },
  examples: [
    'client grant-scopes --all',
    'client grant-scopes importer',
    `client grant-scopes importer --scope 'read:{path}'`,
  ],
  async run({ positionals: [id], flags, values }, terminal) {
    if (flags.has('all') === (id !== undefined))
      throw new UsageError('give the <id> of the client, or --all');
    const wanted = values.get('scope')?.at(-1)?.split(' ').filter(Boolean);
    if (wanted !== undefined && id === undefined)
      throw new UsageError('--scope requires the <id> of a client');
    const { scopes } = policyOf(terminal.domain);
    await withClients(terminal, async (clients, by, pool) => {
      const unknown = wanted?.find((scope) => !scopes.includes(scope));
      if (unknown !== undefined)
        throw new StartRefused(`There is no scope ${unknown}: the scopes are ${scopes.join(' ')}.`);
      const lacking = await findNewScopes(pool, scopes);
      const granted =
        id !== undefined && wanted !== undefined
          ? [{ clientId: id, scopes: wanted }]
          : lacking.filter(({ clientId }) => id === undefined || clientId === id);
      for (const each of granted) {
        const client = await grantScopes(clients, each, by);
        await terminal.write(`${each.clientId} may request ${client.scopes.join(' ')}.`);
      }
      if (granted.length === 0) await terminal.write(`There is no new scope for ${id ?? 'any client'}.`);
    });
  },
};
