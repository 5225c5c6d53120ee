import { plural } from '#shared/format.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { Problem } from '../../client/problem.ts';
import type { Command, Given } from '../arguments/command.ts';
import { cellOf } from '../output/columns.ts';
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
      const isDisabling = given.flags.has('disable-webhooks');
      // Nothing is done if the client may not see them.
      if (isDisabling) await readEnabled(remote, user, isDisabling);
      await remote.write('POST', `${accountPath(user)}/deactivate`);
      const enabled = await readEnabled(remote, user, isDisabling);
      const refusals = isDisabling ? await disableAll(remote, enabled ?? []) : [];
      await report({ user, count: enabled?.length, isDisabling, refusals }, given, terminal);
      if (refusals.length > 0) throw refusals[0];
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

/** One that cannot be disabled leaves the others to be disabled. Returns why some cannot. */
const disableAll = async (remote: Remote, webhooks: readonly Webhook[]): Promise<readonly Problem[]> => {
  const refusals: Problem[] = [];
  for (const { id } of webhooks) {
    try {
      await remote.write('POST', `/webhooks/${id}/disable`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.push(error);
    }
  }
  return refusals;
};

type Done = {
  readonly user: User;
  readonly count: number | undefined;
  readonly isDisabling: boolean;
  readonly refusals: readonly Problem[];
};

const report = async (
  { user, count, isDisabling, refusals }: Done,
  given: Given,
  terminal: Terminal,
): Promise<void> => {
  if (given.flags.has('json')) {
    const disabled = isDisabling ? (count ?? 0) - refusals.length : 0;
    const webhooks = { continuing: count === undefined ? null : count - disabled, disabled };
    return terminal.write(JSON.stringify({ userId: user.id, status: 'deactivated', webhooks }));
  }
  await terminal.write(`The account of ${cellOf(user.name)} is deactivated.`);
  if (count === undefined)
    terminal.complain(
      'Their webhooks continue, if there are any: the token lacks the scope manage:webhooks to look.',
    );
  else if (refusals.length > 0)
    terminal.complain(`Still enabled: ${refusals.length} of ${plural(count, 'webhook')} of theirs.`);
  else if (isDisabling && count > 0) await terminal.write(`Disabled: ${plural(count, 'webhook')}.`);
  else if (count > 0)
    terminal.complain(
      `Still enabled: ${plural(count, 'webhook')} of theirs. Repeat it with --disable-webhooks to stop them too.`,
    );
};
