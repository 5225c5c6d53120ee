import { email as emailField } from '#kernel/declare/values.ts';
import { ROLES, role as roleField } from '#shared/events/fields.ts';
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
  options: { role: { type: 'string', placeholder: '<role>', description: `What they become: ${ROLES.join(', ')} (author).` } },
  examples: ['invite ada@example.com', 'invite grace@example.com --role admin'],
  async run({ positionals: [email = ''], values }, terminal) {
    const role = roleField.safeParse(values.get('role')?.at(-1) ?? 'author');
    if (!role.success) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
    if (!emailField.safeParse(email).success) throw new UsageError(`<e-mail> must be an e-mail address, and is “${email}”`);
    await withAccounts(terminal, async ({ config, by, ...accounts }) => {
      const link = await makeInvitation(accounts, { email, role: role.data }, by);
      if (link === undefined) throw new StartRefused(`${email} has an account already.`);
      await terminal.write(invitationLink(config.issuerUrl, link));
      terminal.complain('Send them the link: it is not shown again.');
    });
  },
};
