import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { OutOfPlan } from './out-of-plan.ts';
import type { Variables } from './variables.ts';

/** A member of an answer: its key, the field, and every node that asks for it. */
export type Selected = {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
};

export type Collect = (type: GraphQLObjectType, sets: readonly SelectionSetNode[]) => readonly Selected[];

/** CollectFields of the specification (section 6.3.2), for one set of variables. */
export const collectBy = (schema: GraphQLSchema, document: DocumentNode, variables: Variables): Collect => {
  const fragments = fragmentsOf(document);
  return (type, sets) => {
    const selected = new Map<string, [FieldNode, ...FieldNode[]]>();
    const visited = new Set<string>();
    const applies = (condition: NamedTypeNode | undefined): boolean =>
      condition === undefined || includes(schema, condition, type);
    const visit = (selection: SelectionNode): void => {
      if (!isIncluded(selection, variables)) return;
      switch (selection.kind) {
        case Kind.FIELD: {
          const key = selection.alias?.value ?? selection.name.value;
          const nodes = selected.get(key);
          if (nodes) nodes.push(selection);
          else selected.set(key, [selection]);
          return;
        }
        case Kind.INLINE_FRAGMENT:
          if (applies(selection.typeCondition)) selection.selectionSet.selections.forEach(visit);
          return;
        case Kind.FRAGMENT_SPREAD: {
          const fragment = fragments.get(selection.name.value);
          if (fragment === undefined || visited.has(fragment.name.value)) return;
          visited.add(fragment.name.value);
          if (applies(fragment.typeCondition)) fragment.selectionSet.selections.forEach(visit);
        }
      }
    };
    for (const set of sets) set.selections.forEach(visit);
    return [...selected].map(([key, nodes]) => ({ key, name: nodes[0].name.value, nodes }));
  };
};

/** The selections of all nodes of a member. */
export const selectionSetsOf = ({ nodes }: Selected): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]));

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );

const includes = (schema: GraphQLSchema, condition: NamedTypeNode, type: GraphQLObjectType): boolean => {
  const named = schema.getType(condition.name.value);
  return named === type || (isAbstractType(named) && schema.isSubType(named, type));
};

const isIncluded = (node: SelectionNode, variables: Variables): boolean => {
  if (node.directives?.some(isUnknown)) throw new OutOfPlan('a directive that changes how an operation runs');
  return (
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false
  );
};

const KNOWN = new Set([GraphQLSkipDirective.name, GraphQLIncludeDirective.name]);

const isUnknown = ({ name }: DirectiveNode): boolean => !KNOWN.has(name.value);
