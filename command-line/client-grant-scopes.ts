import { policyOf } from '#shared/policy.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { findNewScopes, grantScopes } from '../auth/clients/new-scopes.ts';
import { withClients } from './client-store.ts';
import type { Command } from './command.ts';
import { UsageError } from './usage-error.ts';

export const clientGrantScopes: Command = {
  name: 'client grant-scopes',
  summary:
    'Lets a client ask for scopes that the domain has got since it was changed last, as the start of auth tells; or for those of --scope.',
  positionals: ['[<id>]'],
  options: {
    all: { type: 'boolean', description: 'Every client that lacks a scope which is new.' },
    scope: { type: 'string', placeholder: '<scopes>', description: 'These instead, separated by spaces.' },
  },
  examples: ['client grant-scopes --all', 'client grant-scopes importer', `client grant-scopes importer --scope 'read:{path}'`],
  async run({ positionals: [id], flags, values }, terminal) {
    if (flags.has('all') === (id !== undefined)) throw new UsageError('say which client: its <id>, or --all');
    const wanted = values.get('scope')?.at(-1)?.split(' ').filter(Boolean);
    if (wanted !== undefined && id === undefined) throw new UsageError('--scope goes with the <id> of a client');
    const { scopes } = policyOf(terminal.domain);
    await withClients(terminal, async (clients, by, pool) => {
      const unknown = wanted?.find((scope) => !scopes.includes(scope));
      if (unknown !== undefined) throw new StartRefused(`There is no scope ${unknown}: there are ${scopes.join(' ')}.`);
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
