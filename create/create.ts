import { spawn } from 'node:child_process';
import { access, readdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { SCRIPTS, wordsOfTemplate } from './files.ts';
import { anotherThan, nameFrom, whyNoAggregate, whyNoProject } from './names.ts';
import { ANNALS, isTarball, makeProject, type Project } from './project.ts';
import { ask, demand, Interrupted, Refused } from './terminal.ts';

type Creating = Pick<Project, 'meanwhile'> & {
  readonly args: readonly string[];
  /** Whether the project is made in this folder and started, as by `npx annals`. */
  readonly isHere: boolean;
};

const NODE_MIN = [22, 18] as const;

const OF_CREATE = `Creates a project with a domain of your own, and installs its packages.

Usage: npm create ${ANNALS} <folder> [-- options]

Options:
  --start              Starts it, as npm run dev does`;

const OF_HERE = `Creates a project with a domain of your own in this folder, which must be empty, and starts it.
In the folder of a project, it is the command line: npx ${ANNALS} help.

Usage: npx ${ANNALS} [options]

Options:
  --no-start           Does not start it`;

const OF_BOTH = `
  --yes                Does not ask
  --aggregate <name>   The name of the first aggregate, such as invoice
  --annals <place>     Where npm finds annals: a version, or the path of a tarball
  --no-install         Does not run npm install
  --help               Shows this
`;

const demandNode = (): void => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    throw new Refused(
      `Annals needs Node ${NODE_MIN.join('.')} or newer, but this is ${process.versions.node}.`,
    );
};

const OPTIONS = {
  aggregate: { type: 'string' },
  annals: { type: 'string', default: packageJson.version },
  install: { type: 'boolean', default: true },
  start: { type: 'boolean' },
  yes: { type: 'boolean', default: false, short: 'y' },
  help: { type: 'boolean', default: false, short: 'h' },
} as const;

const read = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, allowNegative: true, options: OPTIONS });
  } catch (error) {
    throw new Refused(`${(error as Error).message.split('. ')[0]} (--help lists the options).`);
  }
};

const demandEmpty = async (folder: string, instead: string): Promise<void> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new Refused(`${folder} is a file, or inside one: ${instead}.`);
    throw new Refused(`${folder} cannot be used (${error.code}): ${instead}.`);
  });
  if (names.some((name) => name !== '.git')) throw new Refused(`${folder} is not empty: ${instead}.`);
};

const demandConsent = async (folder: string, isGiven: boolean): Promise<void> => {
  if (isGiven) return;
  if (!process.stdin.isTTY)
    throw new Refused(`${folder} is empty, and no terminal can ask: --yes creates a project there.`);
  const answer = await ask(`Create a project in ${folder}?`, 'yes');
  if (!/^y(?:es)?$/i.test(answer)) throw new Interrupted();
};

/** Returns the folder of the project if it is to be started. */
const create = async ({ args, isHere, meanwhile }: Creating): Promise<string | undefined> => {
  const { values, positionals } = read(args);
  if (values.help) return void process.stdout.write(`${isHere ? OF_HERE : OF_CREATE}${OF_BOTH}`);
  demandNode();
  const [unexpected] = positionals.slice(isHere ? 0 : 1);
  if (unexpected !== undefined)
    throw new Refused(`Unexpected argument: ${unexpected} (--help lists the options).`);
  const answer = (question: string, suggested: string) => (values.yes ? suggested : ask(question, suggested));
  const [place = isHere ? '.' : await answer('The folder of the project?', 'my-app')] = positionals;
  const folder = resolve(place);
  const name = isHere ? nameFrom(basename(folder)) : basename(folder);
  demand(whyNoProject(name));
  await demandEmpty(folder, isHere ? `run npx ${ANNALS} in an empty folder` : 'use a new folder');
  if (isHere) await demandConsent(folder, values.yes);
  const aggregate = values.aggregate ?? (await answer('The name of its first aggregate?', 'note'));
  demand(whyNoAggregate(aggregate, await wordsOfTemplate()));
  if (values.annals === '')
    throw new Refused('--annals is empty: give it a version, or the path of a tarball.');
  if (isTarball(values.annals))
    await access(values.annals).catch(() => demand(`There is no ${values.annals}.`));
  const { annals, install: isInstalled, start: isStarted = isHere } = values;
  await makeProject({ folder, name, annals, aggregate, isInstalled, meanwhile });
  process.stdout.write(`
${name} is in ${folder}. ${isStarted && isInstalled ? 'It starts now. Later' : 'Next'}:

${isHere ? '' : `  cd ${place}\n`}${isInstalled ? '' : '  npm install\n'}  npm run dev        REST, GraphQL, webhooks and the console, at http://localhost:4000, and again as soon as you save a file
  npm test           the rules of ${aggregate}

domain/${aggregate}.ts is the whole aggregate. To add another: npm run annals -- new aggregate ${anotherThan(aggregate)}
`);
  return isStarted && isInstalled ? folder : undefined;
};

/** As `npm run dev` does, in the place of this process. */
const start = async (folder: string): Promise<void> => {
  const child = spawn(process.execPath, SCRIPTS.dev.split(' ').slice(1), { cwd: folder, stdio: 'inherit' });
  // A terminal sends Ctrl+C to the child as well, which stops in order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(
      signal,
      () => void (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)),
    );
  const { promise, resolve: ended } = Promise.withResolvers<number | null>();
  child.once('exit', ended);
  process.exitCode = (await promise) ?? 1;
};

export const runCreate = async (creating: Creating): Promise<void> => {
  try {
    const folder = await create(creating);
    if (folder !== undefined) await start(folder);
  } catch (error) {
    if (error instanceof Interrupted) {
      process.stdout.write('\n');
      process.exitCode = 130;
    } else {
      if (!(error instanceof Refused)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  }
};
