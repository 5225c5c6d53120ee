#!/usr/bin/env node
// Over 200 lines, because it is one command: `npm create annals`, which may import nothing of the package.
import crypto from 'node:crypto';
import { once } from 'node:events';
import { access, copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { type Files, filesOfProject, wordsOfTemplate } from './files.ts';
import { whyNotInstalled } from './install.ts';
import { anotherThan, whyNoAggregate, whyNoProject } from './names.ts';

// `npm create annals my-app`: makes a project with one aggregate.

const HELP = `Creates a project with a domain of your own, and installs its packages.

Usage: npm create annals <folder> [-- options]

Options:
  --aggregate <name>   The name of the first aggregate, such as invoice
  --annals <place>     Where npm finds annals: a version, or the path of a tarball
  --no-install         Does not run npm install
  --help               Shows this
`;

const NODE_MIN = [22, 18] as const;

class Refused extends Error {}

const demandNode = (): void => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]))
    throw new Refused(
      `Annals needs Node ${NODE_MIN.join('.')} or newer, but this is ${process.versions.node}.`,
    );
};

const read = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        aggregate: { type: 'string' },
        annals: { type: 'string', default: packageJson.version },
        'no-install': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new Refused(`${(error as Error).message.split('. ')[0]} (--help lists the options).`);
  }
};

/** By Ctrl+C, or by Ctrl+D at a question. */
class Interrupted extends Error {}

/** Asks on a terminal, and takes the suggestion otherwise. */
const ask = async (question: string, suggested: string): Promise<string> => {
  if (!process.stdin.isTTY) return suggested;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = once(terminal, 'close').then(() => Promise.reject(new Interrupted()));
  try {
    return (
      (await Promise.race([terminal.question(`${question} (${suggested}) `), closed])).trim() || suggested
    );
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ABORT_ERR' ? new Interrupted() : error;
  } finally {
    closed.catch(() => {});
    terminal.close();
  }
};

const demand = (why: string | undefined): void => {
  if (why !== undefined) throw new Refused(why);
};

const demandEmpty = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new Refused(`${folder} is a file, or inside one: use a new folder.`);
    throw new Refused(`${folder} cannot be used (${error.code}): use a new folder.`);
  });
  if (names.some((name) => name !== '.git')) throw new Refused(`${folder} is not empty: use a new folder.`);
};

/** The versions that Annals itself is tested with. */
const versions = (
  ...names: readonly (keyof typeof packageJson.devDependencies)[]
): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, packageJson.devDependencies[name]]));

/** The packages of all parts. The repository, from whose sources tests run this, does not list them apart. */
type Manifest = typeof packageJson & { readonly dependenciesOfParts?: Readonly<Record<string, string>> };
const { dependenciesOfParts = {} }: Manifest = packageJson;

/** A tarball becomes part of the project, so that the project can be built on other machines. */
const VENDOR = 'vendor';

const isTarball = (annals: string): boolean => annals.endsWith('.tgz');
const specifierOf = (annals: string): string =>
  isTarball(annals) ? `file:${VENDOR}/${basename(annals)}` : annals;

const bringAlong = async (annals: string, folder: string): Promise<void> => {
  if (!isTarball(annals)) return;
  await mkdir(join(folder, VENDOR));
  await copyFile(annals, join(folder, VENDOR, basename(annals)));
};

type Project = {
  readonly folder: string;
  readonly files: Files;
  readonly annals: string;
  readonly aggregate: string;
  readonly isInstalled: boolean;
};

const writeProject = async (
  { folder, files, annals, aggregate, isInstalled }: Project,
  signal: AbortSignal,
): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await bringAlong(annals, folder);
  signal.throwIfAborted();
  if (!isInstalled) return;
  process.stdout.write('Installing …\n');
  demand(await whyNotInstalled(folder, aggregate, signal));
};

/** Ctrl+C leaves nothing behind that the next run would refuse. */
const makeProject = async (project: Project): Promise<void> => {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interruption.abort(new Interrupted()));
  const { folder } = project;
  const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
  try {
    await writeProject(project, interruption.signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    if (isNew) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    else
      process.stderr.write(
        `${folder} existed before, so the written files were kept: empty it before you start again.\n`,
      );
    throw error;
  }
};

const create = async (): Promise<void> => {
  const { values, positionals } = read();
  if (values.help) return void process.stdout.write(HELP);
  demandNode();
  if (positionals.length > 1)
    throw new Refused(`Unexpected argument: ${positionals[1]} (--help lists the options).`);
  const [place = await ask('The folder of the project?', 'my-app')] = positionals;
  const folder = resolve(place);
  const project = basename(folder);
  demand(whyNoProject(project));
  await demandEmpty(folder);
  const aggregate = values.aggregate ?? (await ask('The name of its first aggregate?', 'note'));
  demand(whyNoAggregate(aggregate, await wordsOfTemplate()));
  if (values.annals === '')
    throw new Refused('--annals is empty: give it a version, or the path of a tarball.');
  if (isTarball(values.annals))
    await access(values.annals).catch(() => demand(`There is no ${values.annals}.`));
  const files = await filesOfProject(
    { aggregate, project },
    {
      dependencies: {
        annals: specifierOf(values.annals),
        ...dependenciesOfParts,
        ...('argon2' in crypto ? {} : versions('@node-rs/argon2')),
      },
      devDependencies: versions('@types/node', 'fast-check', 'typescript'),
      allowScripts: packageJson.allowScripts,
      scarfSettings: packageJson.scarfSettings,
    },
  );
  await makeProject({ folder, files, annals: values.annals, aggregate, isInstalled: !values['no-install'] });
  process.stdout.write(`
${project} is in ${folder}. Next:

  cd ${place}${values['no-install'] ? '\n  npm install' : ''}
  npm start          REST, GraphQL, webhooks and the console, at http://localhost:4000
  npm test           the rules of ${aggregate}

domain/${aggregate}.ts is the whole aggregate. To add another: npm run annals -- new aggregate ${anotherThan(aggregate)}
`);
};

try {
  await create();
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
