import type { StreamName } from '#shared/brands.ts';
import { type Mending, retry } from '#shared/projection/retry.ts';
import { listParked } from '#shared/read-model/parked.ts';
import { StartRefused } from '#shared/start-refused.ts';
import type { Command, Given } from './command.ts';
import { parkedLine, withProjection } from './projection.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export const projectionRetry: Command = {
  name: 'projection retry',
  summary: 'Takes a parked stream into the read model again, once the cause is mended; or with --all, every one.',
  positionals: ['[<stream>]'],
  options: { all: { type: 'boolean', description: 'Retries everything that is parked.' } },
  examples: ['projection retry {kind}-42', 'projection retry --all'],
  async run(given, terminal) {
    const stream = readRequest(given);
    await withProjection(terminal, async (mending) => {
      const streams = stream === undefined ? (await Array.fromAsync(listParked(mending.pool))).flat().map((each) => each.stream) : [stream];
      if (streams.length === 0) return terminal.write('Nothing is parked.');
      await retryEach(streams, mending, terminal);
    });
  },
};

const readRequest = ({ positionals: [stream], flags }: Given): StreamName | undefined => {
  if (flags.has('all') === (stream !== undefined)) throw new UsageError('give either <stream> or --all');
  return stream as StreamName | undefined;
};

const retryEach = async (streams: readonly StreamName[], mending: Mending, terminal: Terminal): Promise<void> => {
  let left = 0;
  for (const stream of streams) {
    if (terminal.signal.aborted) return;
    const parked = await retry(mending, stream);
    if (parked) left += 1;
    await terminal.write(parked ? `Still parked: ${parkedLine(parked)}` : `${stream} is in the read model again.`);
  }
  if (left === 0) return;
  const count = streams.length === 1 ? 'It stays parked' : `${left} of ${streams.length} stay parked`;
  throw new StartRefused(`${count}: mend the cause and retry, or leave the event out with “projection release <stream>”.`);
};
