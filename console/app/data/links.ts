import type { CommandFacts, KindFacts } from '../../domain-facts.ts';

export type Link = { readonly href: string; readonly method?: string };
export type Links = Readonly<Record<string, Link | undefined>>;
export type Item = { readonly id: number; readonly _links: Links } & Readonly<Record<string, unknown>>;

/** The commands that the item’s links allow now. */
export const possibleOf = (kind: KindFacts, links: Links): readonly CommandFacts[] =>
  kind.commands.filter(
    ({ does, list, rel }) => does !== 'create' && list === undefined && links[rel]?.method !== undefined,
  );
