import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import { dropScratch, type Found, listScratch } from '#shared/read-model/scratch-schemas.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { positionOf } from '../proof/at.ts';
import { type Replayed, replay as replayLog } from '../proof/replay/replay.ts';
import type { Command, Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { duration, megabytes, number, showProgress } from './output/progress.ts';
import { type Projection, withProjection } from './projection.ts';
import { explain, FOR_VERSIONS } from './projection-rebuild.ts';
import { recordCommand } from './record-command.ts';
import type { Terminal } from './terminal.ts';

export const replay: Command = {
  name: 'replay',
  summary: 'Builds the read model as of a position or time in a separate schema, for queries by SQL.',
  positionals: [],
  options: {
    at: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'Builds it up to here, instead of to the end of the log.',
    },
    schema: {
      type: 'string',
      placeholder: '<name>',
      description: 'Name of the schema, beginning with replay_; by default the position.',
    },
    list: { type: 'boolean', description: 'Lists the existing replays.' },
    drop: { type: 'boolean', description: 'Drops the replay that --schema names.' },
  },
  examples: [
    'replay --at 2026-03-01T00:00:00Z',
    'replay --at 120 --schema replay_before_it',
    'replay --drop --schema replay_before_it',
  ],
  run: (given, terminal) =>
    withProjection(terminal, (projection) => chosen(given)(projection, given, terminal), FOR_VERSIONS),
};

type Action = (projection: Projection, given: Given, terminal: Terminal) => Promise<void>;

const chosen = ({ flags, values }: Given): Action => {
  if (flags.has('list') && (flags.has('drop') || values.size > 0))
    throw new UsageError('--list takes no other option');
  if (flags.has('drop') && (!values.has('schema') || values.has('at')))
    throw new UsageError('--drop needs --schema <name>, and takes no other option');
  if (flags.has('list')) return ({ pool }, _given, terminal) => list(pool, terminal);
  return flags.has('drop')
    ? ({ pool }, given, terminal) => drop(pool, optionOf(given, 'schema') ?? '', terminal)
    : make;
};

const make: Action = async ({ isDense, ...mending }, given, terminal) => {
  await recordCommand({ ...mending, command: 'replay' });
  const at = optionOf(given, 'at');
  const upTo: Position =
    at === undefined ? await mending.eventLog.head() : await positionOf(mending, at, '--at');
  const startedAtMs = performance.now();
  using shown = showProgress(terminal, 'Replaying', isDense);
  const work = { ...mending, signal: terminal.signal, onProgress: shown.onProgress };
  const replayed = await replayLog(work, {
    schema: optionOf(given, 'schema') ?? `replay_${upTo}`,
    upTo,
  }).catch(explain('the unfinished replay is dropped'));
  shown[Symbol.dispose]();
  const tookS = Math.ceil((performance.now() - startedAtMs) / 1_000);
  for (const line of replayedLines(mending.tables, replayed, tookS)) await terminal.write(line);
};

const replayedLines = (
  { all }: Tables,
  { schema, position, events, rows }: Replayed,
  tookS: number,
): readonly string[] => [
  `The read model as it was at position ${position} is in the schema ${schema}: ${number(events)} events in ${duration(tookS)}.`,
  `${all.map(({ name }) => `${number(rows[name] ?? 0)} ${name}`).join(', ')}; ${
    rows.parked ? `${number(rows.parked)} parked` : 'nothing is parked'
  }.`,
  `Look at it:  select * from ${schema}.${all.find(({ name }) => name !== 'users')?.name ?? 'users'} order by id limit 10;`,
  `Drop it:     npm run annals -- replay --drop --schema ${schema}`,
  'Like the read model, it contains personal data: drop it when you are done. A crash of the database empties it.',
];

const list = async (pool: Pool, terminal: Terminal): Promise<void> => {
  const found = await listScratch(pool);
  if (found.length === 0) await terminal.write('There are no replays.');
  for (const each of found) await terminal.write(foundLine(each));
};

const foundLine = ({ schema, position, madeAt, isWhole, isEmptied, bytes }: Found): string =>
  `${schema}  at position ${position}, built ${madeAt}, ${megabytes(bytes)}${isWhole ? '' : ', unfinished'}${isEmptied ? ', emptied by a crash of the database: drop it, and build it again' : ''}`;

const drop = async (pool: Pool, schema: string, terminal: Terminal): Promise<void> => {
  if (!(await dropScratch(pool, schema))) {
    throw new StartRefused(
      `There is no replay ${schema} that could be dropped: “replay --list” lists those that exist; Ctrl+C ends one that is being built.`,
    );
  }
  await terminal.write(`${schema} is gone.`);
};

const optionOf = ({ values }: Given, option: string): string | undefined => values.get(option)?.[0];
