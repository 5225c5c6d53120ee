import {
  type DocumentNode,
  type FieldNode,
  Kind as NodeKind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parseType,
} from 'graphql';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import { sourcesOf } from '../../rows/sources.ts';
import type { Runnable } from '../documents/run.ts';
import type { Planner } from '../planner/planner.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** The JSON text of `data`, without errors; undefined leaves the subscription to the resolvers. */
type RenderPlanned = (event: SubscriptionEvent, caller: Caller) => Promise<string | undefined>;

type Options = { readonly domain: Domain; readonly planner: Pick<Planner, 'plan'> };

/**
 * Reads the changed aggregate with the planner, as a query by id: one statement instead of one per level.
 * Undefined for payloads that are not plain fields.
 */
export const planPayload = (
  { domain, planner }: Options,
  { prepared, operation, variables }: Runnable,
): RenderPlanned | undefined => {
  const known = payloadPlans.get(operation.node);
  const plan = known === undefined ? payloadPlanOf(domain, prepared, operation.node) : known;
  payloadPlans.set(operation.node, plan);
  if (plan === null) return undefined;
  const { root, members } = plan;
  const memberJson = async (
    { name, subject }: Member,
    event: SubscriptionEvent,
    caller: Caller,
  ): Promise<string | undefined> => {
    if (subject === undefined) return JSON.stringify(event[name as keyof SubscriptionEvent] ?? null);
    if (event.kind !== name || event.subjectId === null) return 'null';
    // The resolvers report the error.
    const data = await planner
      .plan({ ...subject, variables: { ...variables, [ID]: event.subjectId }, caller })
      .catch(() => undefined);
    return data?.slice(BEFORE.length, -AFTER.length);
  };
  return async (event, caller) => {
    const values = await Promise.all(members.map((member) => memberJson(member, event, caller)));
    if (values.includes(undefined)) return undefined;
    const payload = members.map(({ key }, index) => `${JSON.stringify(key)}:${values[index]}`);
    return `{${JSON.stringify(root)}:{${payload.join()}}}`;
  };
};

/** The keys of the payload, and a query for each that the read model provides. */
type PayloadPlan = { readonly root: string; readonly members: readonly Member[] };
type Member = { readonly key: string; readonly name: string; readonly subject: Subject | undefined };

/**
 * One per document, because each has plans and prepared statements of its own; null if it is not supported.
 */
const payloadPlans = new WeakMap<OperationDefinitionNode, PayloadPlan | null>();

const payloadPlanOf = (
  domain: Domain,
  { document }: Runnable['prepared'],
  operation: OperationDefinitionNode,
): PayloadPlan | null => {
  const [root] = plainFieldsOf(operation.selectionSet) ?? [];
  const fields = plainFieldsOf(root?.selectionSet);
  const isTaken = operation.variableDefinitions?.some(({ variable }) => variable.name.value === ID);
  if (root === undefined || fields === undefined || isTaken) return null;
  const members: Member[] = [];
  for (const field of fields) {
    const { value: name } = field.name;
    const kind = sourcesOf(domain).all.find((source) => source.kind.name === name)?.kind;
    if (kind === undefined && !OF_EVENT.has(name)) return null;
    members.push({
      key: keyOf(field),
      name,
      subject: kind && subjectOf(document, operation, { ...field, name: nameNode(kind.field) }),
    });
  }
  return { root: keyOf(root), members };
};

/** Fields of a payload that are members of the event itself. */
const OF_EVENT: ReadonlySet<string> = new Set(['cursor', 'type', 'at', 'subjectId']);

type Subject = { readonly document: DocumentNode; readonly operation: OperationDefinitionNode };

/** Names with two underscores are reserved by GraphQL, so documents hardly ever have this one. */
const ID = '__subjectId';
const SUBJECT = '_';
const BEFORE = `{"${SUBJECT}":`;
const AFTER = '}';

const nameNode = (value: string) => ({ kind: NodeKind.NAME, value }) as const;

/**
 * The query for the changed aggregate, with the selection, the variables and the fragments of the
 * subscription.
 */
const subjectOf = (
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  field: FieldNode,
): Subject => {
  const variable = { kind: NodeKind.VARIABLE, name: nameNode(ID) } as const;
  const id = { kind: NodeKind.ARGUMENT, name: nameNode('id'), value: variable } as const;
  const operation: OperationDefinitionNode = {
    kind: NodeKind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: [
      ...variableDefinitions,
      { kind: NodeKind.VARIABLE_DEFINITION, variable, type: parseType('ID!') },
    ],
    selectionSet: {
      kind: NodeKind.SELECTION_SET,
      selections: [{ ...field, alias: nameNode(SUBJECT), arguments: [id] }],
    },
  };
  const fragments = document.definitions.filter(({ kind }) => kind === NodeKind.FRAGMENT_DEFINITION);
  return { document: { ...document, definitions: [operation, ...fragments] }, operation };
};

/** Undefined if there is anything but fields without directives, or two with the same key. */
const plainFieldsOf = (set: FieldNode['selectionSet']): readonly FieldNode[] | undefined => {
  const fields = (set?.selections ?? []).filter(
    (each): each is FieldNode => each.kind === NodeKind.FIELD && !each.directives?.length,
  );
  const keys = new Set(fields.map(keyOf));
  return fields.length > 0 && fields.length === set?.selections.length && keys.size === fields.length
    ? fields
    : undefined;
};

const keyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;
