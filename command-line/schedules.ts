import type { Actor } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type ListedSchedule, readSchedules, requestRun } from '#process/operations/schedules.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, FIRST } from '#shared/event-log/event-log.ts';
import { migrateProcessManager } from '../command/process-manager/process-manager.ts';
import { type Command, numberOf } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';
import type { Terminal } from './terminal.ts';

const CONNECTIONS_MAX = 2;
/** More than any domain declares. */
const LISTED_MAX = 10_000;

const withPool = async (terminal: Terminal, work: (pool: Pool) => Promise<void>): Promise<void> => {
  await using installation = await openInstallation(terminal);
  await using pool = openPool({
    url: installation.databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: CONNECTIONS_MAX,
  });
  await work(pool);
};

const list = (pool: Pool): Promise<readonly ListedSchedule[]> =>
  readSchedules(pool, { after: undefined, before: undefined, isBackward: false, rowsMax: LISTED_MAX });

export const schedules: Command = {
  name: 'schedules',
  summary: 'Lists schedules with their next run, their last run and its outcome.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['schedules', 'schedules --json'],
  run: ({ flags }, terminal) =>
    withPool(terminal, async (pool) => {
      const found = await list(pool);
      for (const each of found) await terminal.write(flags.has('json') ? JSON.stringify(each) : lineOf(each));
      if (found.length === 0 && !flags.has('json')) await terminal.write('The domain has no schedule.');
    }),
};

const lineOf = ({ name, cron, timeZone, nextAt, missedAt, ...last }: ListedSchedule): string => {
  const parts = [
    `${name}  ${cron} (${timeZone})`,
    nextAt === null ? 'never again' : `next ${nextAt.toISOString()}`,
    lastOf(last),
    ...(missedAt === null ? [] : [`skipped ${missedAt.toISOString()}`]),
  ];
  return harmless(parts.join(', '));
};

const lastOf = ({
  lastAt,
  state,
  commands,
  failed,
  reason,
  requestedBy,
}: Omit<ListedSchedule, 'name' | 'cron' | 'timeZone' | 'nextAt' | 'missedAt'>): string => {
  if (lastAt === null) return 'no run yet';
  const by = requestedBy === null ? '' : `, run now by ${requestedBy}`;
  const sent = `${commands} ${commands === 1 ? 'command' : 'commands'}${by}`;
  const failure = failed === 0 ? '' : `, ${failed} failed: ${reason}`;
  return `last ${lastAt.toISOString()}: ${state}, ${sent}${failure}`;
};

export const schedulesRun: Command = {
  name: 'schedules run',
  summary: 'Runs a schedule now, beside its times.',
  positionals: ['<name>'],
  options: {
    by: {
      type: 'string',
      placeholder: '<id>',
      description: 'The user who wants it, for the history; by default somebody at the command line.',
    },
  },
  examples: ['schedules run nightly-report', 'schedules run nightly-report --by 1001'],
  async run(given, terminal) {
    const [name = ''] = given.positionals;
    const userId = numberOf(given, 'by', { minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
    await using installation = await openInstallation(terminal);
    if (userId !== undefined) await demandUser(installation.eventLog, userId);
    const by: Actor = userId === undefined ? 'system:command-line' : `user:${userId}`;
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: CONNECTIONS_MAX,
    });
    await migrateProcessManager(pool);
    if (!(await requestRun(pool, { name, by, aheadMs: terminal.clock.aheadMs() }))) {
      const names = (await list(pool)).map((each) => each.name);
      throw new StartRefused(
        `There is no schedule ${harmless(name)}: ${names.length === 0 ? 'the domain has none' : `use ${names.join(' or ')}`}.`,
      );
    }
    await terminal.write(`${harmless(name)} runs now: see “schedules” in a moment.`);
  },
};

/** The id stays in the history for ever. */
const demandUser = async (eventLog: EventLog, userId: number): Promise<void> => {
  for await (const [first] of eventLog.read(streamName('user', userId), FIRST, FIRST))
    if (first !== undefined) return;
  throw new StartRefused(`There is no user ${userId}: give the id of the user who wants the run.`);
};
