import type { PartName } from '#kernel/registry/parts.ts';

/**
 * The additions that roles take from parts, by the name of the role. The roles declare the members, because they
 * stand above; the package shows none of them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the roles add the members.
export interface Additions {}

/**
 * A part of an installation beside its core, such as `graphql()`. An addition to a role is loaded only in a
 * process of that role.
 */
export type Part = {
  readonly name: PartName;
  readonly adds: { readonly [Role in keyof Additions]?: () => Promise<Additions[Role]> };
};

/** Loads the additions to a role, in the order of the parts. */
export const loadAdditions = <Role extends keyof Additions>(
  parts: readonly Part[],
  role: Role,
): Promise<readonly Additions[Role][]> =>
  Promise.all(
    parts.flatMap(({ adds }) => {
      const load = adds[role];
      return load === undefined ? [] : [load()];
    }),
  );
