import type { Row } from './registry.ts';

/** The values that an event always sets, without the time and the caller of a command. */
export const constantsIn = (sets: Row = {}): readonly (readonly [name: string, value: unknown])[] =>
  Object.entries(sets).filter(([, value]) => value !== 'now' && value !== 'caller');
