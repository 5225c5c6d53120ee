import type { StreamName } from '../brands.ts';

/** The stream of one aggregate. The name is storage: it must not change. */
export const streamName = (kind: string, key: number | string): StreamName => `${kind}-${key}` as StreamName;
