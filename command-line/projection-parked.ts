import { type Listed, listParked } from '#shared/read-model/parked.ts';
import type { Command } from './command.ts';
import { listedLine, withProjection } from './projection.ts';

export const projectionParked: Command = {
  name: 'projection parked',
  summary: 'Lists what is out of the read model because of an event that could not be taken in: since when, which event, why.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each whole, as one line of JSON.' } },
  examples: ['projection parked', 'projection parked --json'],
  run: ({ flags }, terminal) =>
    withProjection(terminal, async ({ pool }) => {
      const print = flags.has('json') ? (listed: Listed) => JSON.stringify(listed) : listedLine;
      let shown = 0;
      for await (const page of listParked(pool)) {
        for (const listed of page) await terminal.write(print(listed));
        shown += page.length;
        if (terminal.signal.aborted) return;
      }
      if (shown === 0 && !flags.has('json')) await terminal.write('Nothing is parked.');
    }),
};
