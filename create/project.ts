import crypto from 'node:crypto';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { type Files, filesOfProject } from './files.ts';
import { whyNotInstalled } from './install.ts';
import { demand, Interrupted } from './terminal.ts';

type Versions = Readonly<Record<string, string>>;

/** The manifest of either npm package. The repository, from whose sources tests run this, lists no parts apart. */
type Manifest = typeof packageJson & {
  readonly dependenciesOfParts?: Versions;
  /** In the manifest of `create-annals`: the other package. */
  readonly creates?: string;
};
const { dependenciesOfParts = {}, creates, name: own }: Manifest = packageJson;

/** The npm package that serves projects, by the name that it has in the registry. */
export const ANNALS = creates ?? own;
/** The name by which projects import it. */
const IMPORTED_AS = 'annals';

/** The versions that Annals itself is tested with. */
const versions = (...names: readonly (keyof typeof packageJson.devDependencies)[]): Versions =>
  Object.fromEntries(names.map((name) => [name, packageJson.devDependencies[name]]));

/** A tarball becomes part of the project, so that the project can be built on other machines. */
const VENDOR = 'vendor';

export const isTarball = (annals: string): boolean => annals.endsWith('.tgz');

const specifierOf = (annals: string): string => {
  if (isTarball(annals)) return `file:${VENDOR}/${basename(annals)}`;
  return ANNALS === IMPORTED_AS ? annals : `npm:${ANNALS}@${annals}`;
};

const bringAlong = async (annals: string, folder: string): Promise<void> => {
  if (!isTarball(annals)) return;
  await mkdir(join(folder, VENDOR));
  await copyFile(annals, join(folder, VENDOR, basename(annals)));
};

export type Project = {
  readonly folder: string;
  readonly name: string;
  readonly aggregate: string;
  /** A version, or the path of a tarball. */
  readonly annals: string;
  readonly isInstalled: boolean;
  /** Work for the first start, while npm installs; a failure is left to the start. */
  readonly meanwhile?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
};

const filesOf = ({ annals, aggregate, name }: Project): Promise<Files> =>
  filesOfProject(
    { aggregate, project: name },
    {
      dependencies: {
        [IMPORTED_AS]: specifierOf(annals),
        ...dependenciesOfParts,
        ...('argon2' in crypto ? {} : versions('@node-rs/argon2')),
      },
      devDependencies: versions('@types/node', 'fast-check', 'typescript'),
      allowScripts: packageJson.allowScripts,
    },
  );

const writeProject = async (project: Project, signal: AbortSignal): Promise<void> => {
  const { folder, annals, aggregate, isInstalled, meanwhile } = project;
  for (const [path, text] of Object.entries(await filesOf(project))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      demand(`${join(folder, path)} was written by another program meanwhile: use a new folder.`);
    });
  }
  await bringAlong(annals, folder);
  signal.throwIfAborted();
  if (!isInstalled) return;
  process.stdout.write('Installing …\n');
  const ended = new AbortController();
  const working = meanwhile?.(AbortSignal.any([signal, ended.signal])).catch(() => {});
  try {
    demand(await whyNotInstalled(folder, aggregate, signal));
  } catch (error) {
    ended.abort();
    throw error;
  } finally {
    await working;
  }
};

/** Ctrl+C leaves nothing behind that the next run would refuse. */
export const makeProject = async (project: Project): Promise<void> => {
  const interruption = new AbortController();
  const onSignal = () => interruption.abort(new Interrupted());
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, onSignal);
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
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
};
