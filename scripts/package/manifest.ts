import { ENGINES } from '#shared/process/load-engine.ts';

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

/** Of the repository, as `./package/index.ts`: what the sources of each are called without their ending. */
const entriesOf = (exports: Versions): Versions =>
  Object.fromEntries(Object.entries(exports).map(([as, source]) => [as, source.replace(/\.ts$/, '')]));
export const pathsOf = ({ exports }: Repository): readonly string[] => Object.values(entriesOf(exports));

/** What the repository has for itself alone: the Node that it runs on. */
const OF_THE_REPOSITORY = new Set(['node']);
/** The types that those of the package speak of. */
const TYPES = ['@types/node'];

/** Of tests, any version will do that has what `describeDomain` needs: their authors have chosen it. */
const RUNNER = { vitest: '>=3' };

/** Of `create-annals`: the versions that it writes into projects are those for development. */
export const manifestOfCreate = ({
  version,
  license,
  devDependencies,
  allowScripts,
  scarfSettings,
}: Repository) => ({
  name: 'create-annals',
  version,
  description: 'Makes a project on Annals, with a domain of your own.',
  license,
  type: 'module',
  engines: { node: '>=22.18' },
  bin: { 'create-annals': './package/create/main.js' },
  // Projects are made with these.
  allowScripts: Object.fromEntries(
    Object.entries(allowScripts).filter(([name]) => !OF_THE_REPOSITORY.has(name)),
  ),
  scarfSettings,
  devDependencies: Object.fromEntries(
    ['@node-rs/argon2', '@types/node', 'fast-check', 'typescript'].map((name) => [
      name,
      devDependencies[name],
    ]),
  ),
});

/**
 * The package.json of the package. What only some need is optional, with the versions that Annals is tested
 * with.
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
  const pick = (isWanted: (dependency: string) => boolean, from = dependencies): Versions =>
    Object.fromEntries(Object.entries(from).filter(([dependency]) => isWanted(dependency)));
  const peers = {
    ...pick((dependency) => engines.has(dependency), { ...dependencies, ...devDependencies }),
    ...RUNNER,
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
      ...pick((dependency) => !engines.has(dependency) && !OF_THE_REPOSITORY.has(dependency)),
      ...Object.fromEntries(TYPES.map((types) => [types, devDependencies[types]])),
    },
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((peer) => [peer, { optional: true }])),
  };
};
