import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { readDemoAccess, removeDemoAccess } from '#process/first-minute-file.ts';
import { DEVELOPMENT_ADMIN as CLIENT_ID } from './clients/built-in.ts';
import { AUTHOR, by, type Dependencies, newPassword } from './first-minute.ts';
import { deleteMark, migrateFirstMinute, selectMark } from './first-minute-table.ts';
import type { GrantEnder } from './storage/end-grants.ts';

type Forgetting = Pick<Dependencies, 'pool' | 'clients' | 'persons' | 'credentials'> &
  Pick<GrantEnder, 'endGrantsOfUser'>;

/**
 * Removes the fixtures from an installation that has become production. Returns whether there were any. Looks
 * for the client and the author independently: an operator may have deleted one and not known of the other.
 */
export const forgetFirstMinute = async (dependencies: Forgetting): Promise<boolean> => {
  const { pool, clients } = dependencies;
  await migrateFirstMinute(pool);
  const mark = await selectMark(pool);
  const client = await clients.find(CLIENT_ID);
  if (mark === undefined && client === undefined) return false;
  const author = mark?.author ?? (await dependencies.persons.byEmail(AUTHOR.email))?.userId;
  if (author !== undefined) await lockOut(dependencies, author);
  if (client !== undefined) await clients.remove(CLIENT_ID, undefined, by()).catch(unlessGone);
  // The mark goes last, so that a restart repeats what a crash interrupted. It stays until the author is
  // known.
  if (author !== undefined) await deleteMark(pool);
  return client !== undefined || author !== undefined;
};

/** Removes the demo's administrator, whose password is in DATA_DIR. Returns whether there was one. */
export const forgetDemo = async (dependencies: Forgetting, dataDir: string): Promise<boolean> => {
  const demo = await readDemoAccess(dataDir);
  if (demo === undefined) return false;
  await lockOut(dependencies, demo.administrator.id as UserId);
  // Last, so that a restart repeats what a crash interrupted.
  await removeDemoAccess(dataDir);
  return true;
};

/** In production, anybody who has this password or is signed in with it is a stranger. */
const lockOut = async (
  { persons, credentials, endGrantsOfUser }: Forgetting,
  author: UserId,
): Promise<void> => {
  // Replaces it with a password that nobody knows.
  if ((await persons.byId(author))?.status !== 'deleted')
    await credentials.set(author, newPassword() + newPassword());
  await endGrantsOfUser(author);
};

/** Another process was first. */
const unlessGone = (error: unknown): void => {
  if (!(error instanceof Rejection) || error.code !== 'client_not_found') throw error;
};
