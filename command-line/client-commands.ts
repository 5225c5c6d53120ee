import { StartRefused } from '#shared/start-refused.ts';
import type { StoredClient } from '../auth/clients/client.ts';
import { representationOf } from '../auth/clients/representation.ts';
import { withClients } from './client-store.ts';
import type { Command } from './command.ts';

const PAGE = 100;
const PAGES_MAX = 10_000;

export const clientList: Command = {
  name: 'client list',
  summary: 'Lists the OAuth clients.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each whole, as one line of JSON.' } },
  examples: ['client list'],
  run: (given, terminal) =>
    withClients(terminal, async (clients) => {
      const print = given.flags.has('json') ? (client: StoredClient) => JSON.stringify(representationOf({ client })) : clientLine;
      let after = '';
      for (let page = 0; page < PAGES_MAX && !terminal.signal.aborted; page += 1) {
        const found = await clients.list(after, PAGE);
        for (const client of found) await terminal.write(print(client));
        if (found.length < PAGE) return;
        after = found.at(-1)?.clientId ?? after;
      }
    }),
};

const clientLine = ({ clientId, name, disabled, selfRegistered, scopes }: StoredClient): string => {
  const remarks = [...(disabled ? ['disabled'] : []), ...(selfRegistered ? ['registered itself'] : [])];
  return [clientId, JSON.stringify(name), scopes.join(' ') || 'no scopes', ...remarks].join('  ');
};

export const clientShow: Command = {
  name: 'client show',
  summary: 'Shows one OAuth client, without its secret.',
  positionals: ['<id>'],
  options: {},
  examples: ['client show importer'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withClients(terminal, async (clients) => {
      const client = await clients.find(id);
      if (client === undefined) throw new StartRefused(`There is no client ${id}.`);
      await terminal.write(JSON.stringify(representationOf({ client }), undefined, 2));
    }),
};

export const clientRotateSecret: Command = {
  name: 'client rotate-secret',
  summary: 'Gives a client a new secret, shown this once; the old one and its tokens end.',
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
  summary: 'Deletes a client; its tokens and grants end, what it wrote stays.',
  positionals: ['<id>'],
  options: {},
  examples: ['client delete importer'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withClients(terminal, async (clients, by) => {
      await clients.remove(id, undefined, by);
      await terminal.write(`${id} is deleted.`);
    }),
};
