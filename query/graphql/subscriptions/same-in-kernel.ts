import { type GraphQLSchema, getNamedType, isInterfaceType, isObjectType } from 'graphql';

/**
 * For which viewers of one role, with the same scopes and the right to the parent, a field has the same
 * value: `all`; all but its owner (`all_but_its_own`); or all, but it leads to data of people whom the change
 * does not concern.
 */
export type SameFor = 'all' | 'all_but_its_own' | 'all_and_leads_to_others';

export const IN_CONNECTION = { edges: 'all', nodes: 'all', pageInfo: 'all', totalCount: 'all' } as const;
export const IN_EDGE = { cursor: 'all', node: 'all' } as const;
export const IN_PAYLOAD = {
  cursor: 'all',
  type: 'all',
  at: 'all',
  importedAt: 'all',
  reason: 'all',
  signature: 'all',
  subjectId: 'all',
} as const;

export type Fields = Readonly<Record<string, SameFor | undefined>>;
export type SameInTypes = Readonly<Record<string, Fields>>;

/**
 * Only its owner and administrators see anything of a webhook, and subscriptions refuse histories and logs of reads. So all who see
 * anything there see the same.
 */
const SEEN_BY_FEW = ['WebhookConnection', 'HistoryConnection', 'ReadLogConnection'];

/**
 * Every aggregate has an id, and everybody who sees an event sees its signature. A field that leads to an
 * address or to the details of a file has the rights, so that all who see it see the same.
 */
const SEEN_WITH_THEIR_FIELD = ['Node', 'SignedAddress', 'FileDetails', 'Signature'];

/** The types of the kernel, and all that they lead to, up to the types of the domain. */
export const sameInKernel = (schema: GraphQLSchema, ofDomain: ReadonlySet<string>): SameInTypes => {
  const found = new Map<string, Fields>();
  const visit = (name: string): void => {
    const type = schema.getType(name);
    if (found.has(name) || ofDomain.has(name) || !(isObjectType(type) || isInterfaceType(type))) return;
    const fields = Object.values(type.getFields());
    found.set(name, Object.fromEntries(fields.map((field) => [field.name, 'all' as const])));
    for (const field of fields) visit(getNamedType(field.type).name);
  };
  [...SEEN_WITH_THEIR_FIELD, ...SEEN_BY_FEW].forEach(visit);
  return Object.fromEntries(found);
};
