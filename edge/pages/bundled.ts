import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** The content of files for browsers, by name. */
export type BundledFiles<Name extends string> = Readonly<Record<Name, Buffer>>;

/** The build of the npm package writes it; the repository has no such folder. */
const FOLDER = new URL('../../bundled/', import.meta.url);

/**
 * Files of a package that weighs many times as much: the npm package `annals` contains them, compressed, so that its
 * users need not install that package. Undefined in the repository, which has the package itself.
 */
export const bundledFiles = <Name extends string>(
  folder: string,
  names: readonly Name[],
): BundledFiles<Name> | undefined => {
  if (!existsSync(new URL(`${folder}/`, FOLDER))) return undefined;
  const files = names.map((name) => [
    name,
    brotliDecompressSync(readFileSync(new URL(`${folder}/${name}.br`, FOLDER))),
  ]);
  return Object.fromEntries(files) as Record<Name, Buffer>;
};
