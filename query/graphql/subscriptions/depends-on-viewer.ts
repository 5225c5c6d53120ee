import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import { fragmentsOf } from '../documents/measure.ts';
import { sameFor } from './same-for.ts';

/**
 * True if two viewers of one role with the same scopes may get different results though the change concerns
 * neither. If false, one rendering serves all viewers but those whom the change concerns: the owner of the
 * changed aggregate, and the author of the article above it.
 */
export const dependsOnViewer = (
  { schema, document }: { readonly schema: GraphQLSchema; readonly document: DocumentNode },
  { selectionSet, operation }: OperationDefinitionNode,
  caller: Caller,
): boolean => {
  // Anonymous viewers own nothing, and administrators see the same whoever the owner is.
  if (caller.kind !== 'user' || caller.role === 'admin') return false;
  const root = schema.getRootType(operation);
  return (
    root !== undefined &&
    root !== null &&
    createSearch({ domain: caller.policy.domain, schema, document })(selectionSet, root, false)
  );
};

/** `ofOthers` is true if the data may belong to people whom the change does not concern. */
type Search = (set: SelectionSetNode, type: GraphQLNamedType, ofOthers: boolean) => boolean;

type Searched = { readonly domain: Domain; readonly schema: GraphQLSchema; readonly document: DocumentNode };

const createSearch = ({ domain, schema, document }: Searched): Search => {
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const inFragment = (name: string, ofOthers: boolean): boolean => {
    const key = `${name} ${ofOthers}`;
    const fragment = fragments.get(name);
    if (fragment === undefined || visited.has(key)) return false;
    visited.add(key);
    return search(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value), ofOthers);
  };
  const inField = (
    set: SelectionSetNode | undefined,
    type: GraphQLNamedType,
    at: { field: string; ofOthers: boolean },
  ): boolean => {
    const same = at.field === '__typename' ? 'all' : sameFor(domain, type.name, at.field);
    if (same === undefined || (same === 'all_but_its_own' && at.ofOthers)) return true;
    if (set === undefined || !(isObjectType(type) || isInterfaceType(type))) return false;
    return search(
      set,
      getNamedType(type.getFields()[at.field]?.type),
      at.ofOthers || same === 'all_and_leads_to_others',
    );
  };
  const inSelection = (selection: SelectionNode, type: GraphQLNamedType, ofOthers: boolean): boolean => {
    switch (selection.kind) {
      case Kind.FIELD:
        return inField(selection.selectionSet, type, { field: selection.name.value, ofOthers });
      case Kind.INLINE_FRAGMENT: {
        const condition = selection.typeCondition?.name.value;
        return search(
          selection.selectionSet,
          condition === undefined ? type : schema.getType(condition),
          ofOthers,
        );
      }
      case Kind.FRAGMENT_SPREAD:
        return inFragment(selection.name.value, ofOthers);
    }
  };
  const search = (
    { selections }: SelectionSetNode,
    type: GraphQLNamedType | undefined,
    ofOthers: boolean,
  ): boolean =>
    !isCompositeType(type) || selections.some((selection) => inSelection(selection, type, ofOthers));
  return search;
};
