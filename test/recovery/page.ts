import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemPostgresBin } from '../engines/system-postgres.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (page: string) => readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8');
const PAGES = ['backup', 'runbooks'].map(read);
const BLOCKS = new Map(
  PAGES.flatMap((page) => [...page.matchAll(/^ *```sh ([\w-]+)\n(.*?)^ *```$/gms)]).map(
    ([, name = '', commands = '']) => [name, commands],
  ),
);

/** The one SQL statement of docs/backup.md. */
export const STATEMENT = /^```sql\n(.*?)^```$/ms.exec(read('backup'))?.[1] ?? '';

type Environment = Readonly<Record<string, string>>;

/** The commands with this name on a page. */
const commandsOf = (name: string): string => {
  const commands = BLOCKS.get(name);
  if (commands === undefined)
    throw new Error(`no page has a block ${name}, but ${[...BLOCKS.keys()].join(', ')}`);
  return commands;
};

const spawnBlock = (name: string, environment: Environment): ChildProcess => {
  const paths = [systemPostgresBin, dirname(process.execPath), process.env.PATH].filter(
    (path) => path !== undefined,
  );
  const env = {
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...environment,
    PATH: paths.join(':'),
  };
  return spawn('bash', ['-euo', 'pipefail', '-c', commandsOf(name)], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

/** Runs them to the end, like an operator, and returns their output. */
export const runBlock = async (name: string, environment: Environment): Promise<string> => {
  const child = spawnBlock(name, environment);
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${printed.join('')}`);
  return printed.join('');
};

/** Starts a service of a page; it is stopped at the end, if it still runs. */
export const startBlock = (name: string, environment: Environment): AsyncDisposable => {
  const child = spawnBlock(name, environment);
  const exited = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
};
