import { importsOf, localTarget, type Sources } from './imports.ts';

/** Types count as well: files with a cycle of types cannot be understood one by one. */
export const circlesAmong = (paths: readonly string[], sources: Sources): string[] => {
  const targets = new Map(
    paths.map((path) => [
      path,
      importsOf(sources.get(path) ?? '').flatMap(({ specifier }) => localTarget(path, specifier) ?? []),
    ]),
  );
  const named = new Set<string>();
  return paths.flatMap((path) => {
    const circle = named.has(path) ? undefined : circleFrom(path, targets);
    for (const each of circle ?? []) named.add(each);
    return circle
      ? [`${circle.join(' imports ')}: files import each other in no circle, not even for types.`]
      : [];
  });
};

/** The shortest path along imports from a file to itself. */
const circleFrom = (
  start: string,
  targets: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined => {
  const ways = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [path, way] of ways)
    for (const target of targets.get(path) ?? []) {
      if (target === start) return [...way, start];
      if (!ways.has(target)) ways.set(target, [...way, target]);
    }
  return undefined;
};
