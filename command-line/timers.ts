import type { StreamName } from '#shared/brands.ts';
import { openPool } from '#shared/database/pool.ts';
import { type RunningTimer, readTimers } from '#shared/operations/timers.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { harmless } from './print-event.ts';

const CONNECTIONS_MAX = 2;
const PAGE = 1_000;

export const timers: Command = {
  name: 'timers',
  summary: 'Lists the timers of aggregates that have not run out yet: when they do, or how much time remains to paused ones.',
  positionals: ['[stream]'],
  options: { json: { type: 'boolean', description: 'Prints each whole, as one line of JSON.' } },
  examples: ['timers', 'timers claim-42', 'timers --json'],
  async run({ positionals: [stream], flags }, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({ url: installation.databaseUrl, applicationName: 'annals-command-line', connectionsMax: CONNECTIONS_MAX });
    let after: string | undefined;
    do {
      const stretch = { after, before: undefined, isBackward: false, rowsMax: PAGE };
      const page = await readTimers(pool, { stretch, stream: stream as StreamName | undefined });
      for (const { key: _, ...timer } of page) await terminal.write(flags.has('json') ? JSON.stringify(timer) : lineOf(timer));
      if (page.length === 0 && after === undefined && !flags.has('json')) await terminal.write('No timer is running.');
      after = page.length < PAGE ? undefined : page.at(-1)?.key;
    } while (after !== undefined && !terminal.signal.aborted);
  },
};

const lineOf = ({ stream, name, causeId, dueAt, leftSeconds }: RunningTimer): string => {
  const when = dueAt === null ? `paused, ${leftSeconds} s left` : dueAt.toISOString();
  return harmless(`${when}  ${stream}  ${name}, because of event ${causeId}`);
};
