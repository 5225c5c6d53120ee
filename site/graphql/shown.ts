import type { JsonObject } from '#kernel/base/json.ts';
import { exampleValue } from '#kernel/events/definitions.ts';
import { shownFields } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { subscriptionEventOf } from '../../query/graphql/subscriptions/subscription-event.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import { documentFor } from './documents.ts';
import { graphqlPage } from './page.ts';

export const shownGraphql: ShownGraphql = {
  pageOf: graphqlPage,
  documentFor,
  subscriptionTo(domain, change, cursor) {
    const { type } = change;
    const { at, kind, subjectId } = subscriptionEventOf(domain, change, cursor);
    // A deleted aggregate is shown to nobody.
    const item = kind !== undefined && !type.endsWith('.deleted') ? itemOf(domain, kind) : undefined;
    return {
      subscription: `subscription { changes(types: ["${type}"]) { cursor type at subjectId${item ? ` ${kind} { ${Object.keys(item).join(' ')} }` : ''} } }`,
      result: { data: { changes: { cursor, type, at, subjectId, ...(kind && item && { [kind]: item }) } } },
    };
  },
};

/** The fields of the changed item that a subscription may ask for, with their current values. */
const itemOf = (domain: Domain, name: string): JsonObject => {
  const kind = domain.kinds[name];
  if (kind === undefined) return { url: 'https://example.com/hooks', enabled: true };
  const exampleIn = (field: string): unknown =>
    kind.fields[field]?.kind === 'states'
      ? kind.fields[field]?.values?.at(-1)
      : exampleValue(domain, kind.fields[field]);
  return Object.fromEntries(shownFields(kind).map((field) => [field, exampleIn(field)])) as JsonObject;
};
