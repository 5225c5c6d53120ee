import { type ProjectionStatus, readStatus } from '#shared/projection/status.ts';
import type { Command } from './command.ts';
import { megabytes, number } from './progress.ts';
import { withProjection } from './projection.ts';

export const projectionStatus: Command = {
  name: 'projection status',
  summary: 'Tells how far the read model is, what is parked, and which other versions of it there are.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints all of it as one line of JSON.' } },
  examples: ['projection status'],
  run: ({ flags }, terminal) =>
    withProjection(terminal, async ({ isDense, ...mending }) => {
      const status = await readStatus(mending);
      if (flags.has('json')) return terminal.write(JSON.stringify(status));
      for (const line of statusLines(status, isDense)) await terminal.write(line);
    }),
};

const statusLines = ({ head, live, previous, next, isUnderWay }: ProjectionStatus, isDense: boolean): readonly string[] => {
  const behind = Math.max(head - live.position, 0);
  const unit = isDense ? 'events' : 'bytes of the log';
  return [
    `In use: at position ${live.position}, ${behind === 0 ? 'up to date' : `${number(behind)} ${unit} behind`}, ${megabytes(live.bytes)}.`,
    ...(live.isOfThisRelease ? [] : ['        Its tables are of another release: “projection rebuild” makes those of this one.']),
    `Parked: ${live.parked === 0 ? 'nothing' : `${number(live.parked)}, listed by “projection parked”`}.`,
    previous
      ? `Previous: at position ${previous.position}, ${megabytes(previous.bytes)}; ${previous.isOfThisRelease ? '“projection rollback” puts it back' : 'its tables are of another release, so that it cannot be put back'}.`
      : 'Previous: none; a rebuild leaves one.',
    ...(next
      ? [
          `Unfinished: at position ${next.position}, ${megabytes(next.bytes)}; ${isUnderWay ? 'it is being built' : 'the next rebuild drops it'}.`,
        ]
      : []),
  ];
};
