import * as z from 'zod';
import { parseJson } from '#edge/http/parse-json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';

export const FILES_MAX = 10;

/** The paths in the operations of each file, by the name of its part. */
export type FileMap = ReadonlyMap<string, readonly string[]>;

const Map_ = z.record(z.string(), z.array(z.string()).min(1));

/**
 * Reads the field `map` (GraphQL multipart request specification): a limited number of files, and no path for
 * two of them.
 */
export const readMap = (text: string): FileMap => {
  const parsed = Map_.safeParse(parseJson(text));
  if (!parsed.success) throw wrongMap('map must be an object with a list of paths for each file.');
  const map = new Map(Object.entries(parsed.data));
  if (map.size > FILES_MAX)
    throw wrongMap(`map names ${map.size} files, but at most ${FILES_MAX} are accepted.`);
  const paths = [...map.values()].flat();
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) throw wrongMap(`map names ${twice} twice.`);
  return map;
};

/** Puts a stand-in for each file into the operations. Every path must lead to a null in the request. */
export const placeFiles = (
  operations: unknown,
  map: FileMap,
  standInOf: (name: string) => unknown,
): unknown => {
  const root = { operations };
  for (const [name, paths] of map)
    for (const path of paths) {
      const { holder, key } = find(root, path);
      holder[key] = standInOf(name);
    }
  return root.operations;
};

const PATH_CHARACTERS_MAX = 200;

type Holder = Record<string, unknown>;

const find = (root: Holder, path: string): { readonly holder: Holder; readonly key: string } => {
  const keys = ['operations', ...path.slice(0, PATH_CHARACTERS_MAX).split('.')];
  const key = String(keys.pop());
  let holder: unknown = root;
  for (const each of keys) holder = own(holder, each);
  if (!isHolder(holder) || own(holder, key) !== null)
    throw wrongMap('map has a path that does not lead to a null in operations.');
  return { holder, key };
};

/** A property of the object itself, never of its prototype. */
const own = (holder: unknown, key: string): unknown =>
  isHolder(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

const wrongMap = (detail: string) => new HttpProblem('malformed_request', { detail });
