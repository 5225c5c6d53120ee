import { posix } from 'node:path';
import { importsOf, localTarget, type Sources } from './imports.ts';

/** The folders of one circle, sorted. */
type Knot = readonly string[];
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Folders that import each other in a circle can be understood only together. Between top folders, types count
 * as well; within them, only values do. The files at the root compose everything, and are no folder.
 */
export const findFolderCircles = (sources: Sources): string[] => {
  const paths = [...sources.keys()].filter((path) => path.includes('/') && !path.endsWith('.test.ts'));
  const knots = [
    ...knotsIn(graphOf(paths, sources, { nameOf: topOf, withTypes: true })),
    ...knotsIn(graphOf(paths, sources, { nameOf: posix.dirname, withTypes: false })),
  ];
  return knots.map(
    (knot) =>
      `${knot.join(', ')}: folders import each other in no circle. Move what the one needs of the other below both.`,
  );
};

const topOf = (path: string): string => path.split('/', 1)[0] ?? '';

type Reading = { readonly nameOf: (path: string) => string; readonly withTypes: boolean };

const graphOf = (paths: readonly string[], sources: Sources, { nameOf, withTypes }: Reading): Graph => {
  const graph = new Map(paths.map((path) => [nameOf(path), new Set<string>()]));
  for (const path of paths)
    for (const { specifier, typeOnly } of importsOf(sources.get(path) ?? '')) {
      const target = typeOnly && !withTypes ? undefined : localTarget(path, specifier);
      if (target === undefined || nameOf(target) === nameOf(path) || !graph.has(nameOf(target))) continue;
      graph.get(nameOf(path))?.add(nameOf(target));
    }
  return graph;
};

/** The largest sets of folders of which each reaches every other. */
const knotsIn = (graph: Graph): readonly Knot[] => {
  const reached = new Map([...graph.keys()].map((folder) => [folder, reachedFrom(folder, graph)]));
  const knots = new Map<string, Knot>();
  for (const [folder, ends] of reached) {
    const knot = [...ends].filter((end) => reached.get(end)?.has(folder)).toSorted();
    if (knot.includes(folder)) knots.set(knot.join(), knot);
  }
  return [...knots.values()];
};

/** The folder itself only if there is a way back. */
const reachedFrom = (folder: string, graph: Graph): ReadonlySet<string> => {
  const reached = new Set(graph.get(folder));
  for (const each of reached) for (const next of graph.get(each) ?? []) reached.add(next);
  return reached;
};
