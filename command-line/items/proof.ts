import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EXPORT_TYPE } from '#shared/rest/audit.ts';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { REMOTE_OPTIONS, withRemote } from '../remote/remote.ts';

export const itemsProof: Command = {
  name: 'items proof',
  summary:
    'Writes a file that proves all events of an item. Anybody can check it with the key of the log alone, see `audit check`.',
  positionals: ['<collection>', '<id>'],
  options: {
    at: {
      type: 'string',
      placeholder: '<time, cursor or version>',
      description: 'The item at that point in time; by default at the newest checkpoint.',
    },
    out: {
      type: 'string',
      placeholder: '<file>',
      description: 'The file to write; printed without it.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: [
    'items proof {path} 8001 --out {kind}-8001.jsonl',
    'items proof {path} 8001 --at 2026-03-01T00:00:00Z --out march.jsonl',
  ],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const [at] = given.values.get('at') ?? [];
      const answer = await remote.answer(pathOf(given), { at }, EXPORT_TYPE);
      const [path] = given.values.get('out') ?? [];
      if (path === undefined) return terminal.write((await answer.text()).trimEnd());
      if (answer.body === null) throw new Error('the installation has sent no file');
      await pipeline(Readable.fromWeb(answer.body), createWriteStream(path)).catch((error: unknown) => {
        throw new UsageError(`${path} is incomplete: ${error instanceof Error ? error.message : error}`);
      });
      await terminal.write(
        `${path} proves ${pathOf(given)
          .slice(1)
          .replace(/\/proof$/, '')}. Check it with audit check.`,
      );
    }),
};

const COLLECTION = /^[a-z][a-z0-9-]*$/;
const ID = /^[1-9]\d*$/;

const pathOf = ({ positionals: [collection = '', id = ''] }: Given): string => {
  if (!COLLECTION.test(collection))
    throw new UsageError(`<collection> must be as in links, such as users, but is “${collection}”`);
  if (!ID.test(id)) throw new UsageError(`<id> must be the id of an item, but is “${id}”`);
  return `/${collection}/${id}/proof`;
};
