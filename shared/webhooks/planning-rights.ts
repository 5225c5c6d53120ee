import { createHash } from 'node:crypto';
import { oncePer } from '#kernel/base/once-per.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import packageJson from '../../package.json' with { type: 'json' };

/**
 * Identifies the rights and filters by which it is decided who gets a change. Another release may decide
 * otherwise, whatever the declaration.
 */
export const planningRightsOf = oncePer((domain: Domain): string => {
  const rights = [...policyOf(domain).rights.values()].map(({ operation, scope, byRole }) => [
    operation,
    scope,
    [...byRole],
  ]);
  const text = JSON.stringify([packageJson.version, rights, [...filtersOf(domain)]], plain);
  return createHash('sha256').update(text).digest('base64url');
});

/** Conditions name the kinds and fields that they look at. */
const plain = (_name: string, value: unknown): unknown => {
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  return isKind(value) ? value.name : value;
};

const isKind = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' && value !== null && 'name' in value && 'events' in value && 'fields' in value;
