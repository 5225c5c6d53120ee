import { migrateOperations } from '#process/operations/migrate.ts';
import { type RefusedMessage, readRefusedMessages } from '#process/operations/refused-messages.ts';
import { openPool } from '#shared/database/pool.ts';
import type { Command } from './arguments/command.ts';
import { openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';

const CONNECTIONS_MAX = 1;
/** More than the list keeps of any sender. */
const LISTED_MAX = 100_000;

export const inboxRefused: Command = {
  name: 'inbox refused',
  summary: 'Lists messages of senders that were refused, the latest first: when, why, and their size.',
  positionals: [],
  options: {
    sender: { type: 'string', placeholder: '<name>', description: 'Only messages of this sender.' },
    json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' },
  },
  examples: ['inbox refused', 'inbox refused --sender bank --json'],
  async run({ flags, values }, terminal) {
    await using installation = await openInstallation(terminal);
    await using pool = openPool({
      url: installation.databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: CONNECTIONS_MAX,
    });
    await migrateOperations(pool);
    const page = { after: undefined, before: undefined, isBackward: false, rowsMax: LISTED_MAX };
    const found = await readRefusedMessages(pool, page, values.get('sender')?.[0]);
    for (const each of found) await terminal.write(flags.has('json') ? JSON.stringify(each) : lineOf(each));
    if (found.length === 0 && !flags.has('json')) await terminal.write('No message was refused.');
  },
};

const lineOf = ({ at, sender, code, reason, messageId, messageType, bytes }: RefusedMessage): string => {
  const parts = [
    `${at.toISOString()}  ${sender}  ${code}: ${reason}`,
    messageId === null ? 'not verified' : `id ${messageId}`,
    ...(messageType === null ? [] : [`type ${messageType}`]),
    ...(bytes === null ? [] : [`${bytes} bytes`]),
  ];
  return harmless(parts.join(', '));
};
