import { execFile, spawnSync } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDataDir } from './data-dir.ts';

const run = promisify(execFile);
const REQUIREMENTS = join(import.meta.dirname, '../conformance/requirements.txt');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
/** Beyond its own budget it finishes what it is at. */
const OVERTIME_MS = 60_000;

/** Why it cannot run here. It is a Python program, and Annals does not need Python. */
export const pythonMissing: string | undefined =
  spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0 ? undefined : 'there is no python3 with venv';

/** Installs it once into a cache folder of the user's. */
export const installSchemathesis = async (): Promise<string> => {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals', 'schemathesis');
  const bin = join(folder, 'bin');
  const isThere = await access(join(bin, 'schemathesis')).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await mkdir(folder, { recursive: true });
    await run('python3', ['-m', 'venv', folder]);
  }
  // Quick where the version is the right one.
  await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS]);
  return join(bin, 'schemathesis');
};

type Options = {
  readonly url: string;
  /** Without one, anonymous. */
  readonly token: string | undefined;
  /** What there is, by the names of path parameters. */
  readonly ids: Readonly<Record<string, readonly number[]>>;
  readonly seconds: number;
  readonly seed: number;
};

export type Verdict = { readonly passed: boolean; readonly report: string };

/** Sends what /openapi.json allows, and what it does not, and holds the answers to it. */
export const runSchemathesis = async (program: string, { url, token, ids, seconds, seed }: Options): Promise<Verdict> => {
  await using folder = await temporaryDataDir();
  const config = join(folder.path, 'schemathesis.toml');
  await writeFile(config, configOf(ids));
  const args = ['--config-file', config, 'run', `${url}/openapi.json`, '--seed', String(seed), '--max-time', String(seconds)];
  const options = [
    '--exclude-checks',
    LEFT_OUT.join(),
    '--continue-on-failure',
    '--workers',
    '2',
    '--warnings',
    'off',
    ...(token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]),
  ];
  const environment = { PATH: process.env.PATH, HOME: folder.path, NO_COLOR: '1' };
  const limits = { cwd: folder.path, env: environment, maxBuffer: OUTPUT_BYTES_MAX, timeout: seconds * 1_000 + OVERTIME_MS };
  try {
    return { passed: true, report: (await run(program, [...args, ...options], limits)).stdout };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { passed: false, report: `${stdout}${stderr}` || String(error) };
  }
};

/** A cursor, a version, or a key may be of the right form and still not be the right one. */
const LEFT_OUT = ['positive_data_acceptance'];

/** Most of the ids that it uses are of things that there are. */
const configOf = (ids: Options['ids']): string => {
  const bindings = Object.keys(ids).map((name) => `"path.${name}" = { dictionary = "${name}", probability = 0.8 }`);
  const dictionaries = Object.entries(ids).map(([name, values]) => `${name} = { values = [${values.join(', ')}] }`);
  return ['[parameters]', ...bindings, '[dictionaries]', ...dictionaries, ''].join('\n');
};
