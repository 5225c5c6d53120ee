import type { StreamName } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type ParkedTask, readConsequences } from '#process/operations/consequences.ts';
import { type RunningTimer, readTimers } from '#process/operations/timers.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { retryParkedTasks, skipParkedTask } from '../command/process-manager/parked.ts';
import { migrateProcessManager } from '../command/process-manager/process-manager.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';
import type { Terminal } from './terminal.ts';

const CONNECTIONS_MAX = 2;

const withParked = async (terminal: Terminal, work: (pool: Pool) => Promise<void>): Promise<void> => {
  await using installation = await openInstallation(terminal);
  await using pool = openPool({
    url: installation.databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: CONNECTIONS_MAX,
  });
  await migrateProcessManager(pool);
  await work(pool);
};

const LISTED_MAX = 1_000_000;

/** The oldest first. */
const listParked = async (pool: Pool): Promise<readonly ParkedTask[]> => {
  const found = await readConsequences(pool, {
    after: undefined,
    before: undefined,
    isBackward: true,
    rowsMax: LISTED_MAX,
  });
  return found.map(({ key: _, ...parked }) => parked);
};

const notParked = (stream: string): StartRefused =>
  new StartRefused(`Nothing of ${harmless(stream)} is parked.`);

export const processManagerParked: Command = {
  name: 'process-manager parked',
  summary: 'Lists failed reactions: aggregate, since when, why.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['process-manager parked', 'process-manager parked --json'],
  run: ({ flags }, terminal) =>
    withParked(terminal, async (pool) => {
      const parked = await listParked(pool);
      for (const each of parked)
        await terminal.write(flags.has('json') ? JSON.stringify(each) : parkedLine(each));
      if (parked.length === 0 && !flags.has('json')) await terminal.write('Nothing is parked.');
    }),
};

const parkedLine = ({
  task,
  stream,
  name,
  causeId,
  reason,
  attempts,
  parkedAt,
  nextAt,
  skippedAt,
}: ParkedTask): string => {
  const next =
    skippedAt === null ? `next attempt ${nextAt.toISOString()}` : `skipped ${skippedAt.toISOString()}`;
  const what = name === null ? task : `${task} (${name})`;
  return harmless(
    `${parkedAt.toISOString()}  ${what}  ${stream}  attempts: ${attempts}, ${next}, because of event ${causeId}: ${reason}`,
  );
};

export const processManagerRetry: Command = {
  name: 'process-manager retry',
  summary: 'Retries the failed reactions of a stream now, skipped ones included.',
  positionals: ['<stream>'],
  options: {},
  examples: ['process-manager retry webhook-42'],
  run: ({ positionals: [name = ''] }, terminal) =>
    withParked(terminal, async (pool) => {
      if (!(await retryParkedTasks(pool, name as StreamName))) throw notParked(name);
      await terminal.write(`${harmless(name)} is retried now: see “process-manager parked” in a moment.`);
    }),
};

export const processManagerSkip: Command = {
  name: 'process-manager skip',
  summary:
    'Skips the failed reactions of a stream and continues with later ones. Erasures cannot be skipped.',
  positionals: ['<stream>'],
  options: {},
  examples: ['process-manager skip webhook-42'],
  run: ({ positionals: [name = ''] }, terminal) =>
    withParked(terminal, async (pool) => {
      const stream = name as StreamName;
      const parked = (await listParked(pool)).filter((each) => each.stream === stream);
      if (parked.length === 0) throw notParked(name);
      if (!(await skipParkedTask(pool, stream)))
        throw new StartRefused(
          `Nothing of ${harmless(name)} was skipped: an erasure cannot be skipped, nor a reaction that is already skipped.`,
        );
      await terminal.write(
        `The failed reactions of ${harmless(name)} were skipped. To undo this: “process-manager retry ${harmless(name)}”.`,
      );
    }),
};

const PAGE = 1_000;

export const timers: Command = {
  name: 'timers',
  summary: 'Lists running timers with their due time, and paused ones with their remaining time.',
  positionals: ['[stream]'],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['timers', 'timers claim-42', 'timers --json'],
  async run({ positionals: [stream], flags }, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: CONNECTIONS_MAX,
    });
    let after: string | undefined;
    do {
      const stretch = { after, before: undefined, isBackward: false, rowsMax: PAGE };
      const page = await readTimers(pool, { stretch, stream: stream as StreamName | undefined });
      for (const { key: _, ...timer } of page)
        await terminal.write(flags.has('json') ? JSON.stringify(timer) : lineOf(timer));
      if (page.length === 0 && after === undefined && !flags.has('json'))
        await terminal.write('No timer is running.');
      after = page.length < PAGE ? undefined : page.at(-1)?.key;
    } while (after !== undefined && !terminal.signal.aborted);
  },
};

const lineOf = ({ stream, name, causeId, dueAt, leftSeconds }: RunningTimer): string => {
  const when = dueAt === null ? `paused, ${leftSeconds} s left` : dueAt.toISOString();
  return harmless(`${when}  ${stream}  ${name}, because of event ${causeId}`);
};
