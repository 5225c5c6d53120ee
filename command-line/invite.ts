import { email as emailField } from '#kernel/declare/values.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { makeInvitation } from '../auth/invitations/invitations.ts';
import { invitationLink } from '../auth/own-account/invitations.ts';
import { withAccounts } from './account-store.ts';
import type { Command } from './command.ts';
import { UsageError } from './usage-error.ts';

export const invite: Command = {
  name: 'invite',
  summary: 'Prints a link by which somebody creates their account, once and within a week.',
  positionals: ['<e-mail>'],
  options: { role: { type: 'string', placeholder: '<role>', description: 'What they become; otherwise what people become who sign up.' } },
  examples: ['invite ada@example.com', 'invite grace@example.com --role admin'],
  async run({ positionals: [email = ''], values }, terminal) {
    const roles = rolesOf(terminal.domain);
    const role = values.get('role')?.at(-1) ?? terminal.domain.signUp;
    if (!roles.includes(role)) throw new UsageError(`--role must be one of ${roles.join(', ')}`);
    if (!emailField.safeParse(email).success) throw new UsageError(`<e-mail> must be an e-mail address, and is “${email}”`);
    await withAccounts(terminal, async ({ config, by, ...accounts }) => {
      const link = await makeInvitation(accounts, { email, role }, by);
      if (link === undefined) throw new StartRefused(`${email} has an account already.`);
      await terminal.write(invitationLink(config.issuerUrl, link));
      terminal.complain('Send them the link: it is not shown again.');
    });
  },
};
