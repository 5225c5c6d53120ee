import type { Kind, Row } from '#kernel/registry/registry.ts';
import { type Asking, mayAs, mayReadPart, UnknownCondition } from './declared.ts';

/** True if the right has conditions that this evaluation does not support. */
export const mayIfKnown = (asking: Asking, kind: Kind, state: Row): boolean =>
  unlessUnknown(() => mayAs(asking, kind, 'read', state));
export const mayReadIfKnown = (...asked: Parameters<typeof mayReadPart>): boolean =>
  unlessUnknown(() => mayReadPart(...asked));

const unlessUnknown = (ask: () => boolean): boolean => {
  try {
    return ask();
  } catch (error) {
    if (error instanceof UnknownCondition) return true;
    throw error;
  }
};
