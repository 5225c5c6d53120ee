import type { Limit, WordOfEvents, WordOfRights } from './aggregate.ts';

// The words of declarations, which a start checks as the compiler does.

/** The compiler checks that this list is complete. */
export const WORDS_OF_EVENTS: readonly string[] = Object.keys({
  ...{ creates: true, changes: true, adds: true, updates: true, moves: true, removes: true, ends: true },
  ...{ fields: true, sets: true, computes: true, also: true, carries: true },
  ...{ says: true, example: true, subscribe: true, hidden: true, upcasts: true },
} satisfies Record<WordOfEvents, true>);

/** The compiler checks that this list is complete. */
export const WORDS_OF_RIGHTS: ReadonlySet<string> = new Set(
  Object.keys({
    anyone: true,
    signedIn: true,
    as: true,
    scope: true,
    reads: true,
    items: true,
    writes: true,
  } satisfies Record<WordOfRights, true>),
);

/** The compiler checks that this list is complete. */
export const WORDS_OF_LIMITS: readonly string[] = Object.keys({
  ...{ max: true, per: true, when: true, says: true },
} satisfies Record<keyof Limit<never, never>, true>);
