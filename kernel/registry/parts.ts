import { StartRefused } from '../base/start-refused.ts';

/**
 * The parts of an installation beside its core. Each has routes, links, scopes and modules of its own, and an
 * installation may serve without it.
 */
export const PART_NAMES = [
  'webhooks',
  'streams',
  'proof',
  'graphql',
  'aggregates',
  'accounts',
  'docs',
  'console',
  'mcp',
  'inbox',
  'graphqlWebSockets',
] as const;
export type PartName = (typeof PART_NAMES)[number];

/** The parts that are served only where they are named, because they open doors to others. */
const OPT_IN: ReadonlySet<PartName> = new Set(['inbox', 'graphqlWebSockets']);

export const isPartName = (name: string): name is PartName =>
  (PART_NAMES as readonly string[]).includes(name);

/** The parts without which another is of no use. */
const NEEDS: Readonly<Partial<Record<PartName, readonly PartName[]>>> = {
  console: ['accounts', 'streams', 'proof'],
  graphqlWebSockets: ['graphql'],
};

export const isOptIn = (name: PartName): boolean => OPT_IN.has(name);

/** The served parts; all but those to opt into, unless it names them. */
export type WithParts = { readonly parts?: ReadonlySet<PartName> | undefined };

/** The domain as an installation with only these parts serves it. */
export const withParts = <Served extends WithParts>(domain: Served, names: readonly PartName[]): Served => {
  for (const name of names) {
    const needed = NEEDS[name]?.find((each) => !names.includes(each));
    if (needed !== undefined)
      throw new StartRefused(`${name}() needs ${needed}(): add it to the parts, or remove ${name}().`);
  }
  const isUsual = PART_NAMES.every((name) => names.includes(name) !== isOptIn(name));
  return isUsual ? domain : { ...domain, parts: new Set(names) };
};

export const serves = ({ parts }: WithParts, name: PartName): boolean => parts?.has(name) ?? !isOptIn(name);
