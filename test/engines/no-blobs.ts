import type { Blobs } from '#shared/blobs/blobs.ts';

/** For who has no pictures. */
export const NO_BLOBS: Pick<Blobs, 'remove'> = { remove: async () => {} };
