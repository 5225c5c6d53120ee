import { StartRefused } from '#kernel/base/start-refused.ts';
import { isPartName } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Served } from './served.ts';

/** Refuses a call of `start` that the compiler would refuse: Node runs `main.ts` without its types. */
export const demandServed = ({ domain, parts, routes, scan }: Served): void => {
  if (typeof domain !== 'function')
    throw new StartRefused(`\`domain\` of start is a function that loads it: ${DOMAIN}.`);
  if (parts !== undefined) demandParts(parts);
  // A router has three parameters.
  if (routes !== undefined && (typeof routes !== 'function' || routes.length > 1))
    throw new StartRefused(
      '`routes` of start is a function that returns a router: routes: ({ query }) => Router().get(…).',
    );
  if (scan !== undefined && typeof scan !== 'function')
    throw new StartRefused('`scan` of start is a function: scan: async ({ content }) => undefined.');
};

const DOMAIN = "domain: async () => (await import('./domain/domain.ts')).served";

const demandParts = (parts: unknown): void => {
  if (!Array.isArray(parts) || !parts.every(isPart))
    throw new StartRefused(
      '`parts` of start is a list of parts, each called: parts: [graphql(), accounts()]. They are imported from annals.',
    );
  const names = parts.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw new StartRefused(`${twice}() is in \`parts\` of start twice: name each part once.`);
};

const isPart = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' &&
  value !== null &&
  'adds' in value &&
  'name' in value &&
  isPartName(String(value.name));

/** Recognises the result of `assemble`; that of `domain` has no aggregates. */
export const isDomain = (value: unknown): value is Domain =>
  typeof value === 'object' && value !== null && 'kinds' in value && 'signUp' in value;

/** Refuses what `domain` of start loaded, unless it is a domain. */
export const demandDomain = (loaded: unknown): Domain => {
  if (isDomain(loaded)) return loaded;
  throw new StartRefused(
    '`domain` of start loads no domain: return the result of `assemble`, which the file must export by this name.',
  );
};
