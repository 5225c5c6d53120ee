import type { StreamName, Version } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type Mending, notParked, retry } from '#shared/projection/retry.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import { findUnprojected, skipUnprojected } from '#shared/projection/skip-unprojected.ts';
import { findParked, type Listed, listParked, type Parked } from '#shared/read-model/parked.ts';
import { type Command, type Given, numberOf } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { listedLine, parkedLine, withProjection } from './projection.ts';
import type { Terminal } from './terminal.ts';

export const projectionParked: Command = {
  name: 'projection parked',
  summary: 'Lists parked aggregates: since when, by which event, why.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['projection parked', 'projection parked --json'],
  run: ({ flags }, terminal) =>
    withProjection(terminal, async ({ pool }) => {
      const print = flags.has('json') ? (listed: Listed) => JSON.stringify(listed) : listedLine;
      let shown = 0;
      for await (const page of listParked(pool)) {
        for (const listed of page) await terminal.write(print(listed));
        shown += page.length;
        if (terminal.signal.aborted) return;
      }
      if (shown === 0 && !flags.has('json')) await terminal.write('Nothing is parked.');
    }),
};

export const projectionRetry: Command = {
  name: 'projection retry',
  summary: 'Applies a parked stream again, once its cause is fixed; --all applies every one.',
  positionals: ['[<stream>]'],
  options: { all: { type: 'boolean', description: 'Retries everything that is parked.' } },
  examples: ['projection retry {kind}-42', 'projection retry --all'],
  async run(given, terminal) {
    const stream = readRequest(given);
    await withProjection(terminal, async (mending) => {
      const streams =
        stream === undefined
          ? (await Array.fromAsync(listParked(mending.pool))).flat().map((each) => each.stream)
          : [stream];
      if (streams.length === 0) return terminal.write('Nothing is parked.');
      await retryEach(streams, mending, terminal);
    });
  },
};

const readRequest = ({ positionals: [stream], flags }: Given): StreamName | undefined => {
  if (flags.has('all') === (stream !== undefined)) throw new UsageError('give either <stream> or --all');
  return stream as StreamName | undefined;
};

const retryEach = async (
  streams: readonly StreamName[],
  mending: Mending,
  terminal: Terminal,
): Promise<void> => {
  let left = 0;
  for (const stream of streams) {
    if (terminal.signal.aborted) return;
    const parked = await retry(mending, stream);
    if (parked) left += 1;
    await terminal.write(
      parked ? `Still parked: ${parkedLine(parked)}` : `${stream} is in the read model again.`,
    );
  }
  if (left === 0) return;
  const count = streams.length === 1 ? 'It stays parked' : `${left} of ${streams.length} stay parked`;
  throw new StartRefused(
    `${count}: fix the cause and retry, or skip the event with “projection release <stream>”.`,
  );
};

export const projectionRelease: Command = {
  name: 'projection release',
  summary: 'Skips the event that parks a stream, permanently, and applies the rest of the stream.',
  positionals: ['<stream>'],
  options: {
    yes: { type: 'boolean', description: 'Does it without asking.' },
    version: {
      type: 'string',
      placeholder: '<version>',
      description: 'Names the unreadable event in a stream outside of the read model, which is never parked.',
    },
  },
  examples: ['projection release {kind}-42', 'projection release {kind}-42 --yes'],
  run: (given, terminal) =>
    withProjection(terminal, async (mending) => {
      const stream = given.positionals[0] as StreamName;
      const version = numberOf(given, 'version', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
      const parked = await findParked(mending.pool, stream);
      if (!parked && version !== undefined)
        return releaseUnprojected(given, terminal, mending, { stream, version: version as Version });
      if (!parked) throw notParked(stream);
      await confirmSkip(given, terminal, parked);
      const next = await skipParked(mending, parked);
      if (!next) return terminal.write(`${stream} is in the read model again, without that event.`);
      await terminal.write(`The event was skipped; a later event now parks ${stream}: ${parkedLine(next)}`);
      throw new StartRefused(
        `${stream} stays parked: fix the cause and retry, or skip the event with “projection release”.`,
      );
    }),
};

const confirmSkip = async ({ flags }: Given, terminal: Terminal, parked: Parked): Promise<void> => {
  await terminal.write(`To be skipped permanently: ${parkedLine(parked)}`);
  if (flags.has('yes')) return;
  if (!terminal.confirm)
    throw new UsageError('there is no terminal to confirm on: add --yes to skip the event');
  if (!(await terminal.confirm('Skip it?')))
    throw new StartRefused(`Nothing was skipped; ${parked.stream} stays parked.`);
};

const releaseUnprojected = async (
  given: Given,
  terminal: Terminal,
  mending: Mending,
  named: Pick<Parked, 'stream' | 'version'>,
): Promise<void> => {
  const unreadable = await findUnprojected(mending, named);
  await confirmSkip(given, terminal, unreadable);
  await skipUnprojected(mending, unreadable);
  await terminal.write(`Version ${named.version} of ${named.stream} was skipped.`);
};
