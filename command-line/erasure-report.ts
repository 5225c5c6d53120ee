import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { stayingWithout } from '#shared/erasure/references.ts';
import { reportErasure } from '#shared/erasure/report.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { pathId } from '#shared/rest/path-id.ts';
import { StartRefused } from '#shared/start-refused.ts';
import type { Command } from './command.ts';
import { withErasures } from './erasure.ts';
import { number } from './progress.ts';
import { UsageError } from './usage-error.ts';

export const erasureReport: Command = {
  name: 'erasure report',
  summary: 'Tells what was erased of a user who was deleted, and what is left to be.',
  positionals: ['<user>'],
  options: { json: { type: 'boolean', description: 'Prints all of it as one line of JSON.' } },
  examples: ['erasure report 114959438452129'],
  run: ({ positionals: [text = ''], flags }, terminal) =>
    withErasures(terminal, async (erasing) => {
      const userId = pathId(text) as UserId | undefined;
      if (userId === undefined) throw new UsageError(`<user> must be the number of a user, and is “${text}”`);
      const report = await reportErasure(erasing, userId, terminal.signal);
      if (report === undefined) throw new StartRefused(`There is no user ${userId} who was deleted.`);
      for (const line of flags.has('json') ? [JSON.stringify(report)] : reportLines(report, terminal.domain)) await terminal.write(line);
      if (!report.isDone) throw new StartRefused('Not all of it is erased yet: see what is left, and look again in a moment.');
    }),
};

const reportLines = (report: ErasureReport, domain: Domain): readonly string[] => {
  const { userId, asked, listedAt, keyDestroyedAt, sealed, followed, parts, kept } = report;
  const staying = stayingWithout(domain).map(({ name, says }) => `${number(kept[name] ?? 0)} ${says}`);
  return [
    asked
      ? `User ${userId} was deleted at ${asked.at} by ${asked.actor ?? 'somebody unknown'}${asked.client ? `, through ${asked.client}` : ''} (event ${asked.event}).`
      : `The log does not say that user ${userId} was deleted.`,
    `On the erasure list: ${listedAt ?? 'no'}. Key destroyed: ${keyDestroyedAt ?? 'no'}.`,
    `Events that nobody can open any more: ${counted(sealed)}.`,
    `Deleted with them: ${counted(followed)}.`,
    ...parts.map(({ part, left }) => `  ${left === 0 ? 'erased' : `${number(left)} left`}  ${part}`),
    `Stays without them: ${staying.length === 0 ? 'nothing' : staying.join(', ')}.`,
  ];
};

const counted = (counts: ErasureReport['sealed']): string =>
  counts.length === 0 ? 'none' : counts.map(({ type, events }) => `${number(events)} ${type}`).join(', ');
