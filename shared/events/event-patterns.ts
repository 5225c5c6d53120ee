import { CATALOGUE, type EventType } from '#shared/events/catalogue.ts';
import { STREAM_KINDS, type StreamKind } from '#shared/events/streams.ts';

const PUBLIC = Object.values(CATALOGUE).filter(({ visibility }) => visibility === 'public');

/** The types that clients can name. */
export const PUBLIC_TYPES: readonly EventType[] = PUBLIC.map(({ type }) => type);

/** The kinds of subjects that public events have. */
export const PUBLIC_KINDS: readonly StreamKind[] = STREAM_KINDS.filter((kind) => PUBLIC.some(({ stream }) => stream.kind === kind));

/** Whether a type is meant by a pattern: the type itself, its family (`article.*`), or all (`*`). */
export const fitsPattern = (pattern: string, type: string): boolean =>
  pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

/** The types that a pattern stands for; none where there is no such thing. */
export const typesOf = (pattern: string): readonly EventType[] => PUBLIC_TYPES.filter((type) => fitsPattern(pattern, type));
