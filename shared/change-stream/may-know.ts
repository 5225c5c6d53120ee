import { type Caller, may } from '#shared/policy.ts';
import type { Change } from './change-stream.ts';

/** Whether a caller may know that it happened; what of its data they may see is another question. */
export const mayKnow = (caller: Caller, { right, resource }: Pick<Change, 'right' | 'resource'>): boolean => may(caller, right, resource);
