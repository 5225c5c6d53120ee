import { type ListedHold, readHolds } from '#process/operations/holds.ts';
import { openPool } from '#shared/database/pool.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';
import { recordCommand } from './record-command.ts';

const PAGE = 1_000;

export const holds: Command = {
  name: 'holds',
  summary: 'Lists the holds that nobody has released: item, by whom, since when, why.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['holds', 'holds --json'],
  async run({ flags }, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 1,
    });
    const { domain } = terminal;
    await recordCommand({ domain, pool, command: 'holds', shown: ({ hold }) => (hold ? ['holds'] : []) });
    let after: string | undefined;
    do {
      const stretch = { after, before: undefined, isBackward: false, rowsMax: PAGE };
      const page = await readHolds(domain, pool, stretch);
      for (const { key: _, ...hold } of page)
        await terminal.write(flags.has('json') ? JSON.stringify(hold) : lineOf(hold));
      if (page.length === 0 && after === undefined && !flags.has('json'))
        await terminal.write('Nothing is under a hold.');
      after = page.length < PAGE ? undefined : page.at(-1)?.key;
    } while (after !== undefined && !terminal.signal.aborted);
  },
};

const lineOf = ({ stream, hold, reason, placedBy, placedAt }: Omit<ListedHold, 'key'>): string =>
  harmless(`${placedAt.toISOString()}  ${stream}  hold ${hold} by user ${placedBy}: ${reason}`);
