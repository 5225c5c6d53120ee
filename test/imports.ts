import { posix } from 'node:path';

/** The text of each file by its path. */
export type Sources = ReadonlyMap<string, string>;

type Import = { readonly specifier: string; readonly typeOnly: boolean };

const STATEMENT = /^\s*(import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;

/** The imports and exports of a source that name another module. */
export const importsOf = (source: string): readonly Import[] => [
  ...[...source.matchAll(STATEMENT)].map(([, , type, specifier = '']) => ({
    specifier,
    typeOnly: type !== undefined,
  })),
  ...[...source.matchAll(DYNAMIC)].map(([, specifier = '']) => ({ specifier, typeOnly: false })),
];

/** The path of a file of the repository that another one imports; undefined for packages. */
export const localTarget = (path: string, specifier: string): string | undefined => {
  if (/^#(?:shared|adapters|edge|process|kernel|domain)\//.test(specifier)) return specifier.slice(1);
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
};
