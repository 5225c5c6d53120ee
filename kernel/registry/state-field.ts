import type { Kind } from './registry.ts';

/**
 * The field with the states of an aggregate, by which its lists are read in parts. Further ones are fields like
 * others.
 */
export const stateFieldOf = ({ fields }: Pick<Kind, 'fields'>): string | undefined =>
  Object.keys(fields).find((name) => fields[name]?.kind === 'states');
