import type { Command } from './command.ts';
import { withErasures } from './erasure.ts';

export const erasureList: Command = {
  name: 'erasure list',
  summary: 'Lists who was erased, by number, the first first.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each as one line of JSON.' } },
  examples: ['erasure list'],
  run: ({ flags }, terminal) =>
    withErasures(terminal, async ({ erasures }) => {
      for (const erasure of await erasures.read()) {
        const { userId, at, event } = erasure;
        await terminal.write(
          flags.has('json') ? JSON.stringify(erasure) : `${at}  user ${userId}${event === null ? '' : `  by event ${event}`}`,
        );
      }
    }),
};
