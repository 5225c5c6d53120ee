import { execFile } from 'node:child_process';
import { platform } from 'node:os';
import { promisify } from 'node:util';
import { EmbeddedPostgresFailed } from './errors.ts';

export type ServerUser = { readonly uid: number; readonly gid: number };

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 10_000;

/** Existing users that may run the server, in order of preference. */
const CANDIDATES = platform() === 'darwin' ? ['_postgres', 'postgres', 'nobody'] : ['postgres', 'annals'];
const NEW_USER = 'annals';

/**
 * The user that runs the server; undefined means the present one. PostgreSQL refuses to run as root, so root
 * hands it to the owner of the existing cluster, to an existing user for such servers, or to one that is
 * created here.
 */
export const findServerUser = async (clusterUid: number | undefined): Promise<ServerUser | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  if (clusterUid !== undefined && clusterUid !== 0) return lookUp(String(clusterUid));
  for (const name of CANDIDATES) {
    const user = await lookUp(name).catch(() => undefined);
    if (user !== undefined && user.uid !== 0) return user;
  }
  return create();
};

const lookUp = async (name: string): Promise<ServerUser> => ({
  uid: await id('-u', name),
  gid: await id('-g', name),
});

const id = async (flag: '-u' | '-g', name: string): Promise<number> => {
  const { stdout } = await run('id', [flag, name], { timeout: COMMAND_TIMEOUT_MS });
  return Number.parseInt(stdout, 10);
};

const create = async (): Promise<ServerUser> => {
  try {
    const options = [
      '--system',
      '--user-group',
      '--no-create-home',
      '--home-dir',
      '/nonexistent',
      '--shell',
      '/usr/sbin/nologin',
    ];
    await run('useradd', [...options, NEW_USER], { timeout: COMMAND_TIMEOUT_MS });
    return await lookUp(NEW_USER);
  } catch (cause) {
    const advice = 'create a system user named postgres, start as an ordinary user, or set DATABASE_URL';
    throw new EmbeddedPostgresFailed(
      `PostgreSQL cannot run as root, and no user for it could be created: ${advice}.`,
      { cause },
    );
  }
};

/**
 * Whether a user can enter a folder or run a program: tried, because modes, ownership, and access lists
 * decide together.
 */
export const canEnter = async ({ uid, gid }: ServerUser, path: string): Promise<boolean> => {
  try {
    await run('/bin/sh', ['-c', '[ -x "$1" ]', 'sh', path], {
      uid,
      gid,
      cwd: '/',
      timeout: COMMAND_TIMEOUT_MS,
    });
    return true;
  } catch {
    return false;
  }
};
