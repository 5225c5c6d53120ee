import type { StreamName } from '#shared/brands.ts';
import { StartRefused } from '#shared/start-refused.ts';
import type { Command } from './command.ts';
import { openInstallation } from './installation.ts';
import { eventJson, eventLine } from './print-event.ts';

export const logShow: Command = {
  name: 'log show',
  summary: 'Shows all events of one stream, such as user-7.',
  positionals: ['<stream>'],
  options: { json: { type: 'boolean', description: 'Prints each event whole, as one line of JSON.' } },
  examples: ['log show {kind}-42', 'log show user-7 --json'],
  async run({ positionals: [stream = ''], flags }, terminal) {
    const print = flags.has('json') ? eventJson : eventLine;
    await using installation = await openInstallation(terminal);
    let shown = 0;
    for await (const page of installation.eventLog.read(stream as StreamName)) {
      for (const event of page) await terminal.write(print(event));
      shown += page.length;
      if (terminal.signal.aborted) return;
    }
    if (shown === 0) throw new StartRefused(`There are no events in ${stream}.`);
  },
};
