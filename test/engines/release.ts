import { execFile, spawnSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Settings } from '../../testing/installation.ts';
import { temporaryDataDir } from './data-dir.ts';

/** An earlier release, from git. */
type Release = AsyncDisposable & { readonly path: string };

const ROOT = join(import.meta.dirname, '../..');

/** Why a release cannot be started here: a checkout need not have the commits of before. */
export const releaseMissing = (commit: string): string | undefined =>
  spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status === 0
    ? undefined
    : `${commit} is not in this checkout`;

/** Its files, with the dependencies that are installed today. */
export const unpackRelease = async (commit: string): Promise<Release> => {
  const folder = await temporaryDataDir();
  const path = join(folder.path, 'release');
  await mkdir(path);
  const unpacked = spawnSync('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, path], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (unpacked.status !== 0 || unpacked.stderr !== '')
    throw new Error(`${commit} could not be unpacked: ${unpacked.stderr}`);
  await symlink(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
};

/** An operator's command of the release that is in the folder. Returns what it prints. */
export const annalsOf = async (root: string, args: readonly string[], settings: Settings): Promise<string> =>
  (
    await promisify(execFile)(process.execPath, ['annals.ts', ...args], {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...settings },
    })
  ).stdout;
