import { StartRefused } from '#kernel/base/start-refused.ts';
import { plural } from '#shared/format.ts';
import type { Given } from '../arguments/command.ts';
import { cellOf, columns } from '../output/columns.ts';
import type { Remote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';

/** The fields of a user that the commands read; the domain may add more. */
export type User = {
  readonly id: number;
  readonly name: string;
  readonly email?: string | null;
  readonly role?: string;
  readonly createdAt: string;
};

export const accountPath = ({ id }: User): string => `/account/people/${id}`;

const PAGE = 100;
const FOUND_MAX = 100;

/** Finds the user of the argument `<user>`: an id, or an e-mail address. */
export const findUser = async (remote: Remote, { positionals: [wanted = ''] }: Given): Promise<User> => {
  if (/^\d{1,16}$/.test(wanted)) return remote.get<User>(`/users/${wanted}`);
  const found = await remote.list<User>('/users', { q: wanted, limit: PAGE }).take(FOUND_MAX);
  const user = found.find(({ email }) => email?.toLowerCase() === wanted.toLowerCase());
  if (user === undefined)
    throw new StartRefused(
      `No user has the address ${cellOf(wanted)}: give an id, or search with “users find”.`,
    );
  return user;
};

export const printUsers = async (
  users: AsyncIterable<User>,
  { flags }: Given,
  terminal: Terminal,
): Promise<void> => {
  const rows: string[][] = [];
  let count = 0;
  for await (const user of users) {
    if (terminal.signal.aborted) return;
    count += 1;
    if (flags.has('json')) await terminal.write(JSON.stringify(user));
    else
      rows.push([
        String(user.id),
        cellOf(user.name),
        cellOf(user.email ?? '–'),
        cellOf(user.role ?? '–'),
        user.createdAt,
      ]);
  }
  if (flags.has('json')) return;
  const lines = rows.length === 0 ? [] : columns(['ID', 'Name', 'E-mail', 'Role', 'Since'], rows);
  for (const line of lines) await terminal.write(line);
  terminal.complain(plural(count, 'user'));
};
