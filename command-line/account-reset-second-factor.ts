import { StartRefused } from '#shared/start-refused.ts';
import { turnOffSecondFactor } from '../auth/second-factor/second-factors.ts';
import { withAccounts } from './account-store.ts';
import type { Command } from './command.ts';

export const accountResetSecondFactor: Command = {
  name: 'account reset-second-factor',
  summary: 'Takes the codes off an account whose owner has lost the app and the recovery codes.',
  positionals: ['<e-mail>'],
  options: {},
  examples: ['account reset-second-factor ada@example.com'],
  run: ({ positionals: [email = ''] }, terminal) =>
    withAccounts(terminal, async ({ persons, by, tell, ...accounts }) => {
      const person = await persons.at(email);
      if (!(await turnOffSecondFactor(accounts, person.userId, by))) throw new StartRefused(`No codes are asked for of ${email}.`);
      await terminal.write(`${email} signs in with the password alone until they set up codes again.`);
      terminal.complain('Make sure that it is them who asked: their password is now all that protects the account.');
      await tell(person.userId, 'an operator took the codes off your account: its password is enough to sign in.');
    }),
};
