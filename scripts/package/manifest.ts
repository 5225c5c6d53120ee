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
  readonly scarfSettings: object;
};

/** The sources of the exports, without extension, such as `./package/index`. */
const entriesOf = (exports: Versions): Versions =>
  Object.fromEntries(Object.entries(exports).map(([as, source]) => [as, source.replace(/\.ts$/, '')]));
export const pathsOf = ({ exports }: Repository): readonly string[] => Object.values(entriesOf(exports));

/** Dependencies of the repository only: the Node that it runs on. */
const OF_THE_REPOSITORY = new Set(['node']);
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

/** The package.json of `create-annals`: projects get the versions that the repository develops with. */
export const manifestOfCreate = ({
  version,
  license,
  dependencies,
  devDependencies,
  allowScripts,
  scarfSettings,
}: Repository) => ({
  name: 'create-annals',
  version,
  description: 'Creates a project on Annals, with a domain of your own.',
  license,
  type: 'module',
  engines: { node: '>=22.18' },
  bin: { 'create-annals': './create/create-annals.js' },
  // Written into new projects.
  allowScripts: Object.fromEntries(
    Object.entries(allowScripts).filter(([name]) => !OF_THE_REPOSITORY.has(name)),
  ),
  scarfSettings,
  // New projects opt into all parts.
  dependenciesOfParts: pickOf(dependencies, (dependency) => OF_PARTS.has(dependency)),
  devDependencies: Object.fromEntries(
    ['@node-rs/argon2', '@types/node', 'fast-check', 'typescript'].map((name) => [
      name,
      devDependencies[name],
    ]),
  ),
});

/**
 * The package.json of the package. Dependencies that only some users need are optional, with the versions
 * that Annals is tested with.
 */
export const manifestOf = ({
  name,
  version,
  description,
  license,
  dependencies,
  devDependencies,
  exports,
}: Repository) => {
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
  };
};
