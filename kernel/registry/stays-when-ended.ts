import { isUser } from '../base/users.ts';
import type { Kind } from './registry.ts';

/** The row of a deleted user remains without personal data, because other rows name their author. */
export const staysWhenEnded = (kind: Kind): boolean => isUser(kind);
