import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scaled } from '../../testing/load.ts';
import { temporaryDataDir } from './data-dir.ts';

const run = promisify(execFile);
const REQUIREMENTS = join(import.meta.dirname, '../conformance/requirements.txt');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
/** Beyond its budget it finishes its current work. */
const OVERTIME_MS = 60_000;

/** Why it cannot run here. It is a Python program, and Annals does not need Python. */
export const pythonMissing: string | undefined =
  spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0
    ? undefined
    : 'there is no python3 with venv';

/** Installs it once, into the user's cache folder. */
export const installSchemathesis = async (): Promise<string> => {
  const [name = ''] = (await readFile(REQUIREMENTS, 'utf8')).split('\n');
  const folder = join(
    process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    'annals',
    name.replace('==', '-'),
  );
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--requirement',
    REQUIREMENTS,
  ]);
  return program;
};

type Options = {
  readonly url: string;
  /** Without one, anonymous. */
  readonly token: string | undefined;
  /** Existing ids, by the names of path parameters. */
  readonly ids: Readonly<Record<string, readonly (number | string)[]>>;
  readonly seconds: number;
  readonly seed: number;
};

type Verdict = { readonly passed: boolean; readonly report: string };

/** Sends valid and invalid requests according to /openapi.json, and checks the answers. */
export const runSchemathesis = async (
  program: string,
  { url, token, ids, seconds, seed }: Options,
): Promise<Verdict> => {
  await using folder = await temporaryDataDir();
  const config = join(folder.path, 'schemathesis.toml');
  await writeFile(config, configOf(ids));
  const args = [
    '--config-file',
    config,
    'run',
    `${url}/openapi.json`,
    '--seed',
    String(seed),
    '--max-time',
    String(seconds),
  ];
  const options = ['--checks', CHECKS.join(), '--continue-on-failure', '--warnings', 'off'];
  if (token !== undefined) options.push('--header', `Authorization: Bearer ${token}`);
  const environment = { PATH: process.env.PATH, HOME: folder.path, NO_COLOR: '1' };
  const limits = {
    cwd: folder.path,
    env: environment,
    maxBuffer: OUTPUT_BYTES_MAX,
    timeout: scaled(seconds * 1_000 + OVERTIME_MS),
  };
  try {
    return { passed: true, report: (await run(program, [...args, ...options], limits)).stdout };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { passed: false, report: `${stdout}${stderr}` || String(error) };
  }
};

/** The checks of answers; our own tests are more precise about what must be refused. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'allow_header_conformance',
  'ignored_auth',
];

/** Most of its ids exist. */
const configOf = (ids: Options['ids']): string => {
  const bindings = Object.keys(ids).map(
    (name) => `"path.${name}" = { dictionary = "${name}", probability = 0.8 }`,
  );
  const dictionaries = Object.entries(ids).map(
    ([name, values]) => `${name} = { values = [${values.map((value) => JSON.stringify(value)).join(', ')}] }`,
  );
  return ['[parameters]', ...bindings, '[dictionaries]', ...dictionaries, ''].join('\n');
};
