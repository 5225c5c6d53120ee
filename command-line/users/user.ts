import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Given } from '../arguments/command.ts';
import { cellOf } from '../output/columns.ts';
import type { Remote } from '../remote/remote.ts';

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
      `No user has the address ${cellOf(wanted)}: give an id, or search with “api listUsers --q <text>”.`,
    );
  return user;
};
