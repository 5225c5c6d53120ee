// Over 200 lines, because it is one group of commands: those about users.
import { AUDITOR_UNTIL } from '#kernel/base/auditor.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { plural } from '#shared/format.ts';
import type { EndedAccess, ManagedAccount } from '#shared/rest/managed-accounts.ts';
import { jsonIn } from '../../client/problem.ts';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { cellOf, columns } from '../output/columns.ts';
import { type Paint, paintOf } from '../output/paint.ts';
import { REMOTE_OPTIONS, type Remote, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { demandDay, untilIn } from './until.ts';
import { accountPath, findUser, type User } from './user.ts';

export const usersShow: Command = {
  name: 'users show',
  summary:
    'Shows a user: role, ways to sign in, sessions, and the applications and tokens that act for them.',
  positionals: ['<user>'],
  options: REMOTE_OPTIONS,
  examples: ['users show ada@example.com', 'users show 7001 --json'],
  run: (given, terminal) =>
    withAccount(given, terminal, async ({ user, account }) => {
      const lines = given.flags.has('json')
        ? [JSON.stringify({ ...user, account })]
        : userLines(user, account, paintOf(terminal));
      for (const line of lines) await terminal.write(line);
    }),
};

type Found = { readonly remote: Remote; readonly user: User; readonly account: ManagedAccount };

const withAccount = (
  given: Given,
  terminal: Terminal,
  work: (found: Found) => Promise<void>,
): Promise<void> =>
  withRemote(given, terminal, async (remote) => {
    const user = await findUser(remote, given);
    await work({ remote, user, account: await remote.get<ManagedAccount>(accountPath(user)) });
  });

const LABEL_WIDTH = 16;

const userLines = (user: User, account: ManagedAccount, paint: Paint): readonly string[] => {
  const { status, isConfirmed, hasPassword, hasSecondFactor, passkeys, identities } = account;
  const { sessions, applications, tokens } = account;
  const row = (label: string, text: string): string =>
    `${paint('soft', label.padEnd(LABEL_WIDTH))}${cellOf(text, Number.POSITIVE_INFINITY)}`;
  const ways = [
    ...(hasPassword ? ['password'] : []),
    ...(hasSecondFactor ? ['second factor'] : []),
    ...(passkeys > 0 ? [plural(passkeys, 'passkey')] : []),
    ...identities.map(({ upstream }) => upstream),
  ];
  return [
    `${paint('strong', cellOf(user.name))} ${paint(status === 'active' ? 'good' : 'bad', status)}`,
    row('ID', String(user.id)),
    row('E-mail', `${user.email ?? 'none'}${isConfirmed ? ', confirmed' : ''}`),
    row('Role', user.role ?? '–'),
    row('Since', user.createdAt),
    row('Signs in with', ways.join(', ') || 'nothing yet'),
    row('Sessions', plural(sessions.length, 'browser')),
    ...applications.map(({ name, scopes, lastUsedAt }) =>
      row('Application', `${name}, ${scopes.join(' ')}, ${used(lastUsedAt)}`),
    ),
    ...tokens.map(({ name, scopes, expiresAt, lastUsedAt }) =>
      row('Access token', `${name}, ${scopes.join(' ')}, until ${expiresAt}, ${used(lastUsedAt)}`),
    ),
  ];
};

const used = (at: string | null): string => (at === null ? 'never used' : `last used ${at}`);

export const usersSessions: Command = {
  name: 'users sessions',
  summary:
    'Lists the browsers in which a user is signed in; --end signs them out, and ends their applications and access tokens.',
  positionals: ['<user>'],
  options: {
    end: {
      type: 'boolean',
      description: 'Ends all sessions, the access of all applications, and all access tokens.',
    },
    'sessions-only': {
      type: 'boolean',
      description: 'With --end: leaves applications and access tokens, but ends the console.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: ['users sessions ada@example.com', 'users sessions 7001 --end'],
  run: (given, terminal) =>
    withAccount(given, terminal, async (found) => {
      const isJson = given.flags.has('json');
      const { sessions } = found.account;
      if (given.flags.has('end')) return endAll(found, { given, terminal });
      if (given.flags.has('sessions-only')) throw new UsageError('--sessions-only needs --end');
      const rows = sessions.map(({ browser, network, signedInAt, lastSeenAt }) => [
        cellOf(browser ?? '–'),
        network ?? '–',
        signedInAt,
        lastSeenAt ?? '–',
      ]);
      const table = rows.length === 0 ? [] : columns(['Browser', 'Network', 'Signed in', 'Last seen'], rows);
      for (const line of isJson ? sessions.map((session) => JSON.stringify(session)) : table)
        await terminal.write(line);
      if (!isJson) terminal.complain(plural(sessions.length, 'session'));
    }),
};

/** One request, so that nothing is left if the operator ends their own access. */
const endAll = async (
  { remote, user }: Pick<Found, 'remote' | 'user'>,
  { given, terminal }: { readonly given: Given; readonly terminal: Terminal },
): Promise<void> => {
  const isAll = !given.flags.has('sessions-only');
  const answer = await remote.write('DELETE', `${accountPath(user)}/${isAll ? 'access' : 'sessions'}`);
  const { sessions, applications, tokens } = await jsonIn<EndedAccess>(answer);
  const counts = { sessions, ...(isAll && { applications, tokens }) };
  await terminal.write(
    given.flags.has('json')
      ? JSON.stringify({ userId: user.id, ended: sessions, ...counts })
      : `Ended: ${[
          plural(sessions, 'session'),
          ...(isAll ? [plural(applications, 'application'), plural(tokens, 'access token')] : []),
        ].join(', ')}.`,
  );
};

export const usersInvite: Command = {
  name: 'users invite',
  summary: 'Invites a user through the running installation, which sends the link by mail or prints it.',
  positionals: ['<e-mail>'],
  options: {
    role: {
      type: 'string',
      placeholder: '<role>',
      description: 'Role of the person; by default the role of self-registered users.',
    },
    until: {
      type: 'string',
      placeholder: '<day>',
      description: 'Last day of an auditor, in UTC, at most a year ahead; with --role auditor alone.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: ['users invite ada@example.com', 'users invite grace@example.com --role admin'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const role = roleIn(given.values.get('role')?.at(-1) ?? terminal.domain.signUp, terminal, '--role');
      const email = given.positionals[0] ?? '';
      const until = untilIn(given.values, terminal, role);
      const answer = await remote.write('POST', '/account/invitations', {
        ...{ email, role },
        ...(until !== undefined && { until }),
      });
      const made = await jsonIn<{ readonly link: string | null }>(answer);
      if (given.flags.has('json')) return terminal.write(JSON.stringify(made));
      await terminal.write(made.link ?? `The invitation was sent to ${cellOf(email)}.`);
      if (made.link !== null) terminal.complain('Send them the link: it is not shown again.');
    }),
};

const roleIn = (role: string, { domain }: Terminal, what: string): string => {
  const roles = rolesOf(domain);
  if (!roles.includes(role))
    throw new UsageError(`${what} must be one of ${roles.join(', ')}, but is “${role}”`);
  return role;
};

export const usersRole: Command = {
  name: 'users role',
  summary: 'Gives a user another role, or an auditor another last day.',
  positionals: ['<user>', '<role>'],
  options: {
    until: {
      type: 'string',
      placeholder: '<day>',
      description:
        'Last day of an auditor, in UTC, at most a year ahead. A day that has passed ends the access.',
    },
    ...REMOTE_OPTIONS,
  },
  examples: ['users role ada@example.com admin', 'users role alan@example.com auditor --until 2027-06-30'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const role = roleIn(given.positionals[1] ?? '', terminal, '<role>');
      const user = await findUser(remote, given);
      const until = given.values.get('until')?.at(-1);
      demandDay(until);
      await remote.write('PATCH', `/users/${user.id}`, {
        role,
        ...(until !== undefined && { [AUDITOR_UNTIL]: until }),
      });
      await terminal.write(
        given.flags.has('json')
          ? JSON.stringify({ userId: user.id, role })
          : `${cellOf(user.name)} has the role ${role}.`,
      );
    }),
};

export const usersReactivate: Command = {
  name: 'users reactivate',
  summary: 'Reactivates an account.',
  positionals: ['<user>'],
  options: REMOTE_OPTIONS,
  examples: ['users reactivate ada@example.com'],
  run: (given, terminal) =>
    withRemote(given, terminal, async (remote) => {
      const user = await findUser(remote, given);
      await remote.write('POST', `${accountPath(user)}/reactivate`);
      await terminal.write(
        given.flags.has('json')
          ? JSON.stringify({ userId: user.id, status: 'active' })
          : `The account of ${cellOf(user.name)} is active.`,
      );
    }),
};
