import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { beyondLimit, type DocumentLimits } from './limits.ts';

/** The size of a selection, with every fragment counted as often as it is spread. */
type Size = {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Fields of the selection itself, without nested ones. */
  readonly fields: number;
};

const NOTHING: Size = { depth: 0, aliases: 0, directives: 0, fields: 0 };

/**
 * Finds what exceeds the limits before validation, whose time grows faster than the text. Every fragment is
 * measured once, however often it is spread, so this takes time proportional to the text.
 */
export const findBeyondLimits = (document: DocumentNode, limits: DocumentLimits): readonly GraphQLError[] => {
  const measure = createMeasure(document);
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .map(measure)
    .flatMap(({ depth, aliases, directives, fields }) =>
      [
        { code: 'too_deep', max: limits.depthMax, found: depth } as const,
        { code: 'too_many_aliases', max: limits.aliasesMax, found: aliases } as const,
        { code: 'too_many_directives', max: limits.directivesMax, found: directives } as const,
        { code: 'too_many_root_fields', max: limits.rootFieldsMax, found: fields } as const,
      ]
        .filter(({ max, found }) => found > max)
        .map(({ code, max, found }) => beyondLimit(code, { max, found })),
    );
};

export const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );

const createMeasure = (document: DocumentNode): ((operation: OperationDefinitionNode) => Size) => {
  const fragments = fragmentsOf(document);
  const known = new Map<string, Size>();
  const ofFragment = (name: string): Size => {
    const measured = known.get(name);
    if (measured) return measured;
    // While it is measured, also within itself, a fragment counts as empty. Validation reports cycles.
    known.set(name, NOTHING);
    const size = ofSet(fragments.get(name)?.selectionSet);
    known.set(name, size);
    return size;
  };
  const ofSelection = (selection: SelectionNode): Size => {
    const directives = selection.directives?.length ?? 0;
    switch (selection.kind) {
      case Kind.FIELD: {
        const within = ofSet(selection.selectionSet);
        // Validation limits the depth of introspection.
        const depth = selection.name.value.startsWith('__') ? 0 : within.depth + 1;
        return {
          depth,
          aliases: within.aliases + (selection.alias ? 1 : 0),
          directives: within.directives + directives,
          fields: 1,
        };
      }
      case Kind.INLINE_FRAGMENT:
        return add(ofSet(selection.selectionSet), { ...NOTHING, directives });
      case Kind.FRAGMENT_SPREAD:
        return add(ofFragment(selection.name.value), { ...NOTHING, directives });
    }
  };
  const ofSet = (set: SelectionSetNode | undefined): Size =>
    (set?.selections ?? []).map(ofSelection).reduce(add, NOTHING);
  return ({ selectionSet, directives = [] }) =>
    add(ofSet(selectionSet), { ...NOTHING, directives: directives.length });
};

const add = (one: Size, other: Size): Size => ({
  depth: Math.max(one.depth, other.depth),
  aliases: one.aliases + other.aliases,
  directives: one.directives + other.directives,
  fields: one.fields + other.fields,
});
