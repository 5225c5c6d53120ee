/**
 * The parts of an installation beside its core. Each has routes, links, scopes and modules of its own, and an
 * installation may serve without it.
 */
const PART_NAMES = ['graphql', 'docs', 'console'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** The served parts; all, unless it names them. */
export type WithParts = { readonly parts?: ReadonlySet<PartName> | undefined };

/** The domain as an installation with only these parts serves it. */
export const withParts = <Served extends WithParts>(domain: Served, names: readonly PartName[]): Served =>
  PART_NAMES.every((name) => names.includes(name)) ? domain : { ...domain, parts: new Set(names) };

export const serves = ({ parts }: WithParts, name: PartName): boolean => parts?.has(name) ?? true;
