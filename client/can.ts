import type { Link } from './types/representation.ts';

type Linked = { readonly _links: { readonly [rel: string]: Link | undefined } };
type Known<Links> = keyof { [R in keyof Links as string extends R ? never : R]: true };

/** Returns whether the caller may take an action now, by the links of an item: `can(claim, 'submit')`. */
export const can = <I extends Linked>(
  item: I,
  action: Exclude<Known<I['_links']>, 'self'> & string,
): boolean => item._links[action]?.method !== undefined;
