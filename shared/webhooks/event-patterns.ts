import { CATALOGUE, type EventType } from '#shared/events/catalogue.ts';

/** The types that a webhook can name. */
const PUBLIC_TYPES: readonly EventType[] = Object.values(CATALOGUE)
  .filter(({ visibility }) => visibility === 'public')
  .map(({ type }) => type);

/** The types that a pattern stands for: a type itself, all of its family (`article.*`), or all (`*`); none where there is no such thing. */
export const typesOf = (pattern: string): readonly EventType[] => {
  if (pattern === '*') return PUBLIC_TYPES;
  const family = pattern.endsWith('.*') ? pattern.slice(0, -1) : undefined;
  return PUBLIC_TYPES.filter((type) => (family === undefined ? type === pattern : type.startsWith(family)));
};
