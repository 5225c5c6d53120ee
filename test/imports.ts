import { posix } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };

/** The text of each file by its path. */
export type Sources = ReadonlyMap<string, string>;

type Import = {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Whether it is loaded only when the code gets there. */
  readonly isLater: boolean;
};

const STATEMENT = /^\s*(import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;

/** The imports and exports of a source that name another module. */
export const importsOf = (source: string): readonly Import[] => [
  ...[...source.matchAll(STATEMENT)].map(([, , type, specifier = '']) => ({
    specifier,
    typeOnly: type !== undefined,
    isLater: false,
  })),
  ...[...source.matchAll(DYNAMIC)].map(([, specifier = '']) => ({
    specifier,
    typeOnly: false,
    isLater: true,
  })),
];

/** The top folders that others import by a name, as `#shared/…`. */
export const ALIASED: ReadonlySet<string> = new Set(
  Object.keys(packageJson.imports).map((name) => name.slice('#'.length, -'/*'.length)),
);

/** The path of a file of the repository that another one imports; undefined for packages. */
export const localTarget = (path: string, specifier: string): string | undefined => {
  const [, alias = ''] = /^#([\w-]+)\//.exec(specifier) ?? [];
  if (ALIASED.has(alias)) return specifier.slice('#'.length);
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
};
