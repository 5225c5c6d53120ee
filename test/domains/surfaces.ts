import { conditionWords } from '#kernel/conditions/words.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { contractOf } from '../../command-line/domain/contract/contract.ts';
import { describeDomain } from '../../command-line/domain/meaning/description.ts';
import { openApiDocument } from '../../query/openapi/document.ts';
import { wrongValuesOf } from '../../testing/describe-domain/values.ts';

const URL = 'https://annals.example';

/**
 * Everything that a start derives from a declaration, without a database. Those that are made fastest come
 * first.
 */
export const SURFACES: Readonly<Record<string, (domain: Domain) => unknown>> = {
  tables: (domain) => {
    const { ofStreams, views } = tablesOf(domain);
    return [...ofStreams, ...views].map(({ name, definition }) => ({ name, definition }));
  },
  conditions: (domain) => Object.values(domain.kinds).map((kind) => conditionsOf(domain, kind)),
  refusals: (domain) => Object.values(domain.kinds).map(refusalsOf),
  description: (domain) => describeDomain(domain),
  openapi: (domain) => openApiDocument({ domain, publicUrl: URL, issuerUrl: URL, requireIfMatch: false }),
  contract: contractOf,
};

/** The conditions of decisions, in words. */
const conditionsOf = (domain: Domain, kind: Kind) => {
  const inWords = (condition: unknown): string => conditionWords(domain, kind, condition as never);
  return {
    facts: Object.entries(kind.facts).map(([name, fact]) => [name, inWords(fact)]),
    invariants: Object.entries(kind.invariants).map(([name, invariant]) => [name, inWords(invariant)]),
    when: Object.values(kind.commands).map(({ name, when }) => [name, when && inWords(when)]),
    requires: Object.values(kind.commands).map(({ requires }) => requires),
  };
};

/** The messages about values that no form may contain. */
const refusalsOf = ({ fields, lists, refusals }: Kind) => {
  const ofItems = Object.values(lists).flatMap((list) => [...Object.values(list.fields), list.id.def]);
  return [refusals, ...[...Object.values(fields), ...ofItems].map(messagesOf)];
};

const messagesOf = (def: FieldDef): readonly unknown[] =>
  [...wrongValuesOf(def, 1), ['a', 'a']].map((value) =>
    def.demanded.safeParse(value).error?.issues.map(({ message }) => message),
  );

const code = (_: string, value: unknown): unknown => {
  if (typeof value === 'function' || value instanceof RegExp) return String(value);
  return value instanceof Set || value instanceof Map ? [...value] : value;
};

/** A surface as text, to compare it. */
export const printed = (domain: Domain, surface: string): string =>
  JSON.stringify(SURFACES[surface]?.(domain), code);
