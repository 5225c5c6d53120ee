import { kindIn } from '#kernel/base/events/streams.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type Retained, readRetained } from '#process/operations/retention.ts';
import { openPool } from '#shared/database/pool.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';
import type { Terminal } from './terminal.ts';

const DAYS = 30;
const DAYS_MAX = 366 * 200;
const PAGE = 1_000;

export const retentionPlan: Command = {
  name: 'retention plan',
  summary: 'Lists what ends by its retention in the next days, and what a hold keeps; changes nothing.',
  positionals: [],
  options: {
    days: { type: 'string', placeholder: '<number>', description: `How far ahead; ${DAYS} by default.` },
    json: { type: 'boolean', description: 'Prints each as one line of JSON.' },
  },
  examples: ['retention plan', 'retention plan --days 365', 'retention plan --json'],
  async run({ values, flags }, terminal) {
    const days = daysOf(values.get('days')?.at(-1));
    await using installation = await openInstallation(terminal);
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 1,
    });
    const counts = new Map<string, Count>();
    let after: Retained | undefined;
    do {
      const page = await readRetained(pool, { domain: terminal.domain, days, after, rowsMax: PAGE });
      for (const each of page) {
        count(counts, each);
        await terminal.write(flags.has('json') ? jsonOf(each) : lineOf(each));
      }
      after = page.length < PAGE ? undefined : page.at(-1);
    } while (after !== undefined && !terminal.signal.aborted);
    if (!flags.has('json')) await summarize(terminal, counts, days);
  },
};

type Count = { ending: number; held: number };

const count = (counts: Map<string, Count>, { stream, dueAt }: Retained): void => {
  const known = counts.get(kindIn(stream)) ?? { ending: 0, held: 0 };
  counts.set(kindIn(stream), known);
  if (dueAt === null) known.held += 1;
  else known.ending += 1;
};

const jsonOf = ({ stream, dueAt }: Retained): string =>
  JSON.stringify({ stream, endsAt: dueAt, isHeld: dueAt === null });

const lineOf = ({ stream, dueAt }: Retained): string =>
  harmless(`${dueAt === null ? 'under a hold           ' : dueAt.toISOString()}  ${stream}`);

const summarize = async (
  terminal: Terminal,
  counts: ReadonlyMap<string, Count>,
  days: number,
): Promise<void> => {
  if (counts.size === 0) await terminal.write(`Nothing ends by its retention within ${days} days.`);
  for (const [kind, { ending, held }] of counts)
    await terminal.write(harmless(`${kind}: ${ending} end within ${days} days, ${held} are under a hold.`));
};

const daysOf = (given: string | undefined): number => {
  const days = given === undefined ? DAYS : Number(given);
  if (/^\d+$/.test(given ?? String(DAYS)) && days >= 1 && days <= DAYS_MAX) return days;
  throw new StartRefused(`--days must be a whole number from 1 to ${DAYS_MAX}, and not ${given}.`);
};
