import { randomBytes } from 'node:crypto';

/** Tells apart what two processes make at the same time. */
export const randomSuffix = (): string => randomBytes(4).toString('hex');
