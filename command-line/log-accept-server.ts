import { demandNoted } from '#shared/event-log/demand-newest.ts';
import { noteFileIn } from '#shared/event-log/newest-note.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';

/** A start refuses a server that no process has seen: only the operator can know whether it has everything. */
export const logAcceptServer: Command = {
  name: 'log accept-server',
  summary:
    'Accepts the PostgreSQL server of the event log after another one has taken over while Annals was stopped, and nothing was lost.',
  positionals: [],
  options: {},
  examples: ['log accept-server'],
  async run(_given, terminal) {
    await using installation = await openInstallation(terminal);
    const { config, eventLog } = installation;
    const file = noteFileIn(config.audit.dir, eventLog.identity);
    const note = await file.read();
    if (!note) return terminal.write(`There is nothing to accept: ${file.path} does not exist.`);
    await demandNoted({ eventLog, file }, note);
    const { server = null } = (await eventLog.standing?.()) ?? {};
    await file.write({ ...note, server, isFinal: false });
    await terminal.write(
      server
        ? `The log is now on the server ${server.system}, timeline ${server.timeline}.`
        : 'The server of the log does not say which one it is, so that nothing has to be accepted.',
    );
  },
};
