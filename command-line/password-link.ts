import { resetLink } from '../auth/own-account/reset-routes.ts';
import { makeReset } from '../auth/password-reset/password-reset.ts';
import { withAccounts } from './account-store.ts';
import type { Command } from './command.ts';

export const passwordLink: Command = {
  name: 'password-link',
  summary: 'Prints a link by which somebody chooses a new password, once and within half an hour.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['password-link ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ config, persons, by, ...accounts }) => {
      const person = await persons.at(email);
      await terminal.write(resetLink(config.issuerUrl, await makeReset(accounts, { userId: person.userId, isMailed: false }, by)));
      terminal.complain('Send it to nobody but them, and make sure that it is them who asks: it is not shown again.');
    }),
};
