import type { Kind } from './registry.ts';

/** The row of a deleted user remains without personal data, because other rows name their author. */
export const staysWhenEnded = ({ name }: Kind): boolean => name === 'user';
