import { randomBytes } from 'node:crypto';

/** Distinguishes names that two processes create at the same time. */
export const randomSuffix = (): string => randomBytes(4).toString('hex');
