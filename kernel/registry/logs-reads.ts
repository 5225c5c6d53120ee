import type { Domain } from './registry.ts';

/** Whether the reads of some aggregate are recorded. */
export const logsReads = ({ kinds }: Pick<Domain, 'kinds'>): boolean =>
  Object.values(kinds).some(({ reads }) => reads !== undefined);
