import { findLostKeys } from '#shared/erasure/lost-keys.ts';
import type { Command } from './command.ts';
import { withErasures } from './erasure.ts';
import { eraseListed } from './erasure-apply.ts';
import { untilStopped } from './log-renew.ts';
import { number } from './progress.ts';

export const erasureLostKeys: Command = {
  name: 'erasure lost-keys',
  summary: 'Lists the persons in the log whose keys are not in the database, as after it was lost; with --erase it erases them, for good.',
  positionals: [],
  options: { erase: { type: 'boolean', description: 'With Annals stopped: puts them on the erasure list, and erases them.' } },
  examples: ['erasure lost-keys', 'erasure lost-keys --erase'],
  run: ({ flags }, terminal) =>
    withErasures(terminal, async (erasing) => {
      const lost = await findLostKeys(erasing, terminal.signal);
      if (!flags.has('erase')) for (const userId of lost) await terminal.write(`user ${userId}`);
      if (lost.length === 0) return terminal.write('The key of every person in the log is in the database, or was destroyed.');
      if (!flags.has('erase')) return;
      await untilStopped(erasing.pool);
      const at = new Date().toISOString();
      await erasing.erasures.note(lost.map((userId) => ({ userId, at, event: null })));
      await eraseListed(erasing);
      await terminal.write(`${number(lost.length)} persons without a key are erased: what follows from that follows once Annals runs.`);
    }),
};
