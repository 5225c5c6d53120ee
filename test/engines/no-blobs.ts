import type { Blobs } from '#shared/blobs/blobs.ts';

/** For tests without pictures. */
export const NO_BLOBS: Pick<Blobs, 'remove'> = { remove: async () => {} };
