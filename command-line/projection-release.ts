import type { StreamName } from '#shared/brands.ts';
import { release } from '#shared/projection/release.ts';
import { notParked } from '#shared/projection/retry.ts';
import { findParked } from '#shared/read-model/parked.ts';
import { StartRefused } from '#shared/start-refused.ts';
import type { Command } from './command.ts';
import { parkedLine, withProjection } from './projection.ts';
import { UsageError } from './usage-error.ts';

export const projectionRelease: Command = {
  name: 'projection release',
  summary: 'Leaves out the event that parks a stream, in every projection from now on, and takes the rest of the stream in.',
  positionals: ['<stream>'],
  options: { yes: { type: 'boolean', description: 'Does it without asking.' } },
  examples: ['projection release {kind}-42', 'projection release {kind}-42 --yes'],
  run: ({ positionals: [name = ''], flags }, terminal) =>
    withProjection(terminal, async (mending) => {
      const stream = name as StreamName;
      const parked = await findParked(mending.pool, stream);
      if (!parked) throw notParked(stream);
      await terminal.write(`To be left out for good: ${parkedLine(parked)}`);
      if (!flags.has('yes')) {
        if (!terminal.confirm) throw new UsageError('there is no terminal to ask on: say --yes if that event is to be left out');
        if (!(await terminal.confirm('Leave it out?'))) throw new StartRefused(`Nothing is left out; ${stream} stays parked.`);
      }
      const next = await release(mending, parked);
      if (!next) return terminal.write(`${stream} is in the read model again, without that event.`);
      await terminal.write(`It is left out; a later event parks ${stream} now: ${parkedLine(next)}`);
      throw new StartRefused(`${stream} stays parked: mend the cause and retry, or release it once more.`);
    }),
};
