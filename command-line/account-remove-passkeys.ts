import { StartRefused } from '#shared/start-refused.ts';
import { removePasskeysOf } from '../auth/passkeys/passkeys.ts';
import { withAccounts } from './account-store.ts';
import type { Command } from './command.ts';

export const accountRemovePasskeys: Command = {
  name: 'account remove-passkeys',
  summary: 'Takes all passkeys off an account, also those that somebody else has added to it.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['account remove-passkeys ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ persons, by, tell, ...accounts }) => {
      const person = await persons.at(email);
      if (!(await removePasskeysOf(accounts, person.userId, by))) throw new StartRefused(`${email} has no passkeys.`);
      await terminal.write(`Nobody signs in as ${email} by a passkey any more.`);
      terminal.complain('Who is signed in stays so: a new password by a link (password-link) ends that.');
      await tell(person.userId, 'an operator removed all passkeys from your account.');
    }),
};
