import { writeFile } from 'node:fs/promises';
import { fileFailure } from '#shared/folder.ts';
import type { EventProof } from '#shared/rest/audit.ts';
import type { Command } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { REMOTE_OPTIONS, withRemote } from '../remote/remote.ts';
import { eventIdOf } from './event-id.ts';

export const eventsProof: Command = {
  name: 'events proof',
  summary:
    'Writes a file that proves an event is in the log. Anybody can check it with the key of the log alone, see `audit check`.',
  positionals: ['<id>'],
  options: {
    out: {
      type: 'string',
      placeholder: '<file>',
      description: 'The file to write; printed without it.',
    },
    timestamp: {
      type: 'boolean',
      description: 'With a time stamp of an authority, in the file and beside it as <file>.tst.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: [
    'events proof 01985f3e-… --out event.tlog-proof',
    'events proof 01985f3e-… --timestamp --out event.tlog-proof',
  ],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const id = eventIdOf(given);
      const query = given.flags.has('timestamp') ? '?with=timestamp' : '';
      const proof = await remote.get<EventProof>(`/events/${id}/proof${query}`);
      const [path] = given.values.get('out') ?? [];
      if (path !== undefined) await write(path, proof.proof);
      if (path !== undefined && proof.timestamp !== undefined)
        await write(`${path}.tst`, Buffer.from(proof.timestamp, 'base64'));
      if (given.flags.has('json')) return terminal.write(JSON.stringify(proof));
      if (path === undefined) return terminal.write(proof.proof.trimEnd());
      await terminal.write(
        `${path} proves event ${proof.index + 1} of ${proof.size}. Its key: ${proof.vkey}`,
      );
      if (proof.isWitnessed === false)
        await terminal.write('Not enough witnesses have cosigned it yet: ask again in a moment.');
    }),
};

const write = (path: string, content: string | Buffer): Promise<void> =>
  writeFile(path, content).catch((error: unknown) => {
    throw new UsageError(fileFailure(error) ?? String(error));
  });
