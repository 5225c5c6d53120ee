import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { shortText } from '#shared/format.ts';
import type { CommandFacts, DomainFacts, KindFacts } from '../../domain-facts.ts';
import type { Item, Links } from './links.ts';

const DomainContext = createContext<DomainFacts | undefined>(undefined);
export const DomainProvider = DomainContext.Provider;

/** The declaration of the domain, from the server. */
export const useDomain = (): DomainFacts => {
  const domain = useContext(DomainContext);
  if (domain === undefined) throw new Error('the component is outside of a domain');
  return domain;
};

export const readDomain = async (path: string): Promise<DomainFacts> => {
  const response = await fetch(path);
  if (!response.ok)
    throw new Error(`the request for the description of the domain returned ${response.status}`);
  return (await response.json()) as DomainFacts;
};

export const kindAt = ({ kinds }: DomainFacts, path: string | undefined): KindFacts | undefined =>
  kinds.find((kind) => kind.path === path);
export const kindNamed = ({ kinds }: DomainFacts, name: string | undefined): KindFacts | undefined =>
  kinds.find((kind) => kind.name === name);

export type Me = { readonly id: number; readonly name: string; readonly role?: string };

const MeContext = createContext<Me | undefined>(undefined);
export const MeProvider = MeContext.Provider;
/** The signed-in user. */
export const useMe = (): Me | undefined => useContext(MeContext);

export const HAL = 'application/hal+json';
export type Page<Of = Item> = {
  readonly _links: Links;
  readonly _embedded: { readonly items: readonly Of[] };
};

const TITLE_CHARACTERS_MAX = 90;

/** The title of an item: the field for that, or its number. That of a request is its command in words. */
export const titleOf = (kind: KindFacts, item: Readonly<Record<string, unknown>>): string => {
  const confirmed = kind.confirms?.find(({ type }) => type === item.command);
  const value = confirmed?.title ?? (kind.label === undefined ? undefined : item[kind.label]);
  const [line = ''] = typeof value === 'string' ? value.trim().split('\n') : [];
  return line === '' ? `${kind.title} ${String(item.id)}` : shortText(line, TITLE_CHARACTERS_MAX);
};

export const pageOf = ({ path }: KindFacts): string => `/console/data/${path}`;
export const pageOfItem = (kind: KindFacts, id: unknown): string =>
  `${pageOf(kind)}/${encodeURIComponent(String(id))}`;
/** The page above an item: of its parent, or the list of its kind. */
export const above = (
  { kinds }: DomainFacts,
  kind: KindFacts,
  item: Item | undefined,
): { readonly page: string; readonly title: string } => {
  const parent = kinds.find(({ name }) => name === kind.parent?.kind);
  if (parent === undefined) return { page: pageOf(kind), title: kind.plural };
  return {
    page: item ? pageOfItem(parent, item[kind.parent?.field ?? '']) : pageOf(parent),
    title: parent.title,
  };
};

export const pageOfCommand = (kind: KindFacts, id: unknown, { name }: CommandFacts): string =>
  `${pageOfItem(kind, id)}/do/${name}`;

export const creationOf = (kind: KindFacts): CommandFacts | undefined =>
  kind.commands.find(({ does }) => does === 'create');
