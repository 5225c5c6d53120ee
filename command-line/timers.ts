import type { StreamName } from '#shared/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { type RunningTimer, readTimers } from '#shared/operations/timers.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { harmless } from './print-event.ts';

const CONNECTIONS_MAX = 2;
const LISTED_MAX = 1_000_000;

export const timers: Command = {
  name: 'timers',
  summary: 'Lists the timers of aggregates that have not run out yet: when they do, or how much time remains to paused ones.',
  positionals: ['[stream]'],
  options: { json: { type: 'boolean', description: 'Prints each whole, as one line of JSON.' } },
  examples: ['timers', 'timers claim-42', 'timers --json'],
  async run({ positionals: [stream], flags }, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({ url: installation.databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
    const all = { after: undefined, before: undefined, isBackward: false, rowsMax: LISTED_MAX };
    const running = await readTimers(pool, all, stream as StreamName | undefined);
    for (const { key: _, ...timer } of running) await terminal.write(flags.has('json') ? JSON.stringify(timer) : lineOf(timer));
    if (running.length === 0 && !flags.has('json')) await terminal.write('No timer is running.');
  },
};

const lineOf = ({ stream, name, causeId, dueAt, leftSeconds }: RunningTimer): string => {
  const when = dueAt === null ? `paused, ${leftSeconds} s left` : dueAt.toISOString();
  return harmless(`${when}  ${stream}  ${name}, because of event ${causeId}`);
};
