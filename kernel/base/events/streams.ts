import type { StreamName } from '../brands.ts';

/** The stream of one aggregate. The name is storage: it must not change. */
export const streamName = (kind: string, key: number | string): StreamName => `${kind}-${key}` as StreamName;

/** The kind in the name of a stream; empty if the name has none. */
export const kindIn = (stream: string): string => stream.slice(0, Math.max(stream.indexOf('-'), 0));

/** The id in the name of an aggregate’s stream. */
export const idIn = (stream: string): number => Number(stream.slice(stream.indexOf('-') + 1));
