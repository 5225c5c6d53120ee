import type { Domain } from './registry.ts';

/** Whether reads are recorded: those of some aggregate, or those of auditors. */
export const logsReads = ({ kinds, auditors }: Pick<Domain, 'kinds' | 'auditors'>): boolean =>
  auditors === true || Object.values(kinds).some(({ reads }) => reads !== undefined);
