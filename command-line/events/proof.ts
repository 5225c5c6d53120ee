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
    ...REMOTE_OPTIONS,
  },
  examples: ['events proof 01985f3e-… --out event.tlog-proof'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const id = eventIdOf(given);
      const proof = await remote.get<EventProof>(`/events/${id}/proof`);
      const [path] = given.values.get('out') ?? [];
      if (path !== undefined)
        await writeFile(path, proof.proof).catch((error: unknown) => {
          throw new UsageError(fileFailure(error) ?? String(error));
        });
      if (given.flags.has('json')) return terminal.write(JSON.stringify(proof));
      if (path === undefined) return terminal.write(proof.proof.trimEnd());
      await terminal.write(
        `${path} proves event ${proof.index + 1} of ${proof.size}. Its key: ${proof.vkey}`,
      );
    }),
};
