import type { Catalogue } from './catalogue.ts';

/** Whether a pattern matches a type: the type itself, its family (`article.*`), or all (`*`). */
export const fitsPattern = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

/** The types that a pattern matches; none for an unknown pattern. */
export const typesOf = (
  { publicTypes }: Pick<Catalogue, 'publicTypes'>,
  pattern: string,
): readonly string[] => publicTypes.filter((type) => fitsPattern(pattern, type));
