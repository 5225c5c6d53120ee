import {
  type FieldNode,
  GraphQLError,
  getArgumentValues,
  getVariableValues,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql';
import { oncePer } from '#kernel/base/once-per.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain, EventInfo, Kind } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { type Catalogue, catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import type { Topic } from '../../changes/topics.ts';
import { topicsOfTypes } from '../../events/filter.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { fragmentsOf } from '../documents/measure.ts';
import { Refused, type Runnable } from '../documents/run.ts';
import { changedName, eventName } from '../rules/names.ts';

/** The changes that a subscription asks for. */
export type AskedChanges = {
  readonly topics: readonly Topic[];
  /** The condition on changes that have any of the topics. */
  wants(change: Change): boolean;
  /** The cursor as sent. */
  readonly after: string | undefined;
  /** The variables that the messages depend on, without the cursor to start at. */
  readonly variables: Readonly<Record<string, unknown>>;
};

type Arguments = Readonly<Record<string, unknown>>;
type Asked = Pick<AskedChanges, 'topics'> & Partial<Pick<AskedChanges, 'wants'>>;

type Read = (args: Arguments) => Asked;

const fieldsOf = oncePer((domain: Domain): ReadonlyMap<string, Read> => makeFields(domain));

const makeFields = (domain: Domain): ReadonlyMap<string, Read> => {
  const catalogue = catalogueOf(domain);
  const ofKinds = sourcesOf(domain).all.flatMap(({ kind }) => [
    ...Object.values(kind.events).flatMap((event) =>
      event.spec.subscribe ? [[eventName(kind, event), readEvent(kind, event)] as const] : [],
    ),
    [
      changedName(kind),
      ({ id }: Arguments) => ({ topics: [`${kind.name}:${demandId(id)}` as Topic] }),
    ] as const,
  ]);
  const changes: Read = ({ types }) => ({
    topics: Array.isArray(types) ? typeTopics(catalogue, types) : ['all'],
  });
  return new Map<string, Read>([...ofKinds, ['changes', changes]]);
};

/** One event type: of all aggregates, or of the children of one parent. */
const readEvent = ({ plural, parent }: Kind, event: EventInfo): Read => {
  if (parent === undefined) return () => ({ topics: [`type:${event.type}`] });
  return (args) => ({
    topics: [`${plural}:${demandId(args[`${parent}Id`])}` as Topic],
    wants: ({ type }) => type === event.type,
  });
};

/** The one field of a subscription, with its arguments. */
export type AskedRoot = { readonly field: string; readonly args: Arguments };

export const askedRootOf = (runnable: Runnable): AskedRoot => {
  const { field, args } = rootIn(runnable);
  return { field, args };
};

/** Refuses a subscription that could never match. */
export const askedChangesOf = (domain: Domain, runnable: Runnable): AskedChanges => {
  const { field, args, variableValues } = rootIn(runnable);
  const read = fieldsOf(domain).get(field);
  if (!read) throw new Error(`the subscription ${field} has no filter of changes`);
  const cursors = new Set(namesOfCursors(runnable.operation.node));
  return {
    wants: () => true,
    ...read(args),
    after: (args.after ?? null) === null ? undefined : String(args.after),
    variables: Object.fromEntries(
      Object.entries(variableValues.coerced).filter(([name]) => !cursors.has(name)),
    ),
  };
};

const rootIn = ({ prepared: { schema, document }, operation: { node }, variables }: Runnable) => {
  const { variableValues } = getVariableValues(schema, node.variableDefinitions ?? [], variables);
  // Admission has validated the values.
  if (variableValues === undefined) throw new Error('the variables of an admitted operation are invalid');
  const field = rootFieldIn(node.selectionSet, fragmentsOf(document));
  const definition = schema.getSubscriptionType()?.getFields()[field.name.value];
  if (!definition) throw new Error(`there is no subscription ${field.name.value}`);
  const args = readArguments(() => getArgumentValues(definition, field, variableValues));
  return { field: field.name.value, args, variableValues };
};

/** Validation guarantees exactly one field, which may be written several times. */
const rootFieldIn = (
  { selections }: SelectionSetNode,
  fragments: ReturnType<typeof fragmentsOf>,
): FieldNode => {
  const [first] = selections;
  if (first?.kind === NodeKind.FIELD) return first;
  const inner =
    first?.kind === NodeKind.FRAGMENT_SPREAD
      ? fragments.get(first.name.value)?.selectionSet
      : first?.selectionSet;
  if (inner === undefined) throw new Error('a subscription without a field is not valid');
  return rootFieldIn(inner, fragments);
};

/** Only here is a null found in a variable that must not be null. */
const readArguments = (read: () => Arguments): Arguments => {
  try {
    return read();
  } catch (error) {
    throw error instanceof GraphQLError ? new Refused([withCode(error)]) : error;
  }
};

const withCode = (error: GraphQLError): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes,
    extensions: { ...error.extensions, code: 'invalid_variables' },
  });

/** By the type `Cursor`, which only `after` has. */
const namesOfCursors = ({ variableDefinitions = [] }: Runnable['operation']['node']): readonly string[] =>
  variableDefinitions
    .filter(({ type }) => {
      const named = type.kind === NodeKind.NON_NULL_TYPE ? type.type : type;
      return named.kind === NodeKind.NAMED_TYPE && named.name.value === 'Cursor';
    })
    .map(({ variable }) => variable.name.value);

const demandId = (given: unknown): number => {
  const id = pathId(String(given));
  if (id === undefined) throw invalid(`${String(given).slice(0, SHOWN_CHARACTERS_MAX)} is not a valid id.`);
  return id;
};

const SHOWN_CHARACTERS_MAX = 40;

const typeTopics = (catalogue: Catalogue, given: readonly unknown[]): readonly Topic[] => {
  const types = [...new Set(given.map(String))];
  const unknown = types.filter((type) => typesOf(catalogue, type).length === 0);
  if (types.length === 0) throw invalid('Give a type, or omit `types` to get all.');
  if (unknown.length > 0)
    throw invalid(`There is no type ${(unknown[0] ?? '').slice(0, SHOWN_CHARACTERS_MAX)}.`);
  return topicsOfTypes(catalogue, types);
};

const invalid = (message: string): Refused =>
  new Refused([new GraphQLError(message, { extensions: { code: 'invalid_argument' } })]);
