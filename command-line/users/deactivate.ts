import { plural } from '#shared/format.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { Problem } from '../../client/problem.ts';
import { cellOf } from '../columns.ts';
import type { Command, Given } from '../command.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { accountPath, findUser, type User } from './user.ts';

const LISTED_MAX = 10_000;
const PAGE = 100;

export const usersDeactivate: Command = {
  name: 'users deactivate',
  summary:
    'Deactivates an account: its sessions end, and nobody can sign in to it. Its webhooks continue, unless --disable-webhooks disables them.',
  positionals: ['<user>'],
  options: {
    'disable-webhooks': {
      type: 'boolean',
      description: 'Disables the webhooks of the user too. Reactivating the account does not enable them.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: ['users deactivate ada@example.com', 'users deactivate ada@example.com --disable-webhooks'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const user = await findUser(remote, given);
      await remote.write('POST', `${accountPath(user)}/deactivate`);
      const isDisabling = given.flags.has('disable-webhooks');
      const enabled = await readEnabled(remote, user, isDisabling);
      for (const { id } of isDisabling ? (enabled ?? []) : [])
        await remote.write('POST', `/webhooks/${id}/disable`);
      await report({ user, count: enabled?.length, isDisabling }, given, terminal);
    }),
};

/** Undefined if the client may not see them and need not change them: the account is deactivated anyway. */
const readEnabled = async (
  remote: Remote,
  { id }: User,
  isNeeded: boolean,
): Promise<readonly Webhook[] | undefined> => {
  try {
    const query = { owner: id, enabled: 'true', limit: PAGE };
    return await remote.list<Webhook>('/webhooks', query).take(LISTED_MAX);
  } catch (error) {
    if (!isNeeded && error instanceof Problem && error.code === 'insufficient_scope') return undefined;
    throw error;
  }
};

type Done = { readonly user: User; readonly count: number | undefined; readonly isDisabling: boolean };

const report = async (
  { user, count, isDisabling }: Done,
  given: Given,
  terminal: Terminal,
): Promise<void> => {
  if (given.flags.has('json')) {
    const webhooks = { continuing: isDisabling ? 0 : (count ?? null), disabled: isDisabling ? count : 0 };
    return terminal.write(JSON.stringify({ userId: user.id, status: 'deactivated', webhooks }));
  }
  await terminal.write(`The account of ${cellOf(user.name)} is deactivated.`);
  if (count === undefined)
    terminal.complain(
      'Their webhooks continue, if there are any: the token lacks the scope manage:webhooks to look.',
    );
  else if (isDisabling && count > 0) await terminal.write(`Disabled: ${plural(count, 'webhook')}.`);
  else if (count > 0)
    terminal.complain(
      `Still enabled: ${plural(count, 'webhook')} of theirs. Repeat it with --disable-webhooks to stop them too.`,
    );
};
