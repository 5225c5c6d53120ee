import type { ErasureList } from '#shared/erasure/erasure-list.ts';

/** For tests in which nobody is deleted. */
export const NO_ERASURES: ErasureList = { note: async () => {}, read: async () => [], path: '' };
