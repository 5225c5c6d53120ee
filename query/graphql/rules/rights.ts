import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { itemType } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Rejection } from '#kernel/base/rejection.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { mutatingCommands, mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { CommandInfo, Domain } from '#kernel/registry/registry.ts';
import { seeing } from '#kernel/registry/roles.ts';
import { admit, admitByScope, type Caller, policyOf, scopeOf } from '#shared/policy.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { viewSourcesOf } from '../../views/source.ts';
import { changeType } from './names.ts';

/** The right to read each type, whichever field leads there. */
type Reading = Readonly<Record<string, Operation>>;
/** The right to each mutation, beyond the rights to read its result. */
type Mutating = Readonly<Record<string, Operation>>;

const MANAGE = 'webhook.manage';

const kernelReading = (domain: Domain): Reading => ({
  Webhook: seeing(domain, MANAGE),
  WebhookConnection: seeing(domain, MANAGE),
  DeliveryConnection: seeing(domain, MANAGE),
  HistoryConnection: 'events.read',
  AuditStatus: 'events.read',
  // The feed of all events; each change is visible only to callers who may see it.
  Change: 'events.read',
});

const KERNEL_MUTATING: Mutating = Object.fromEntries(
  [
    'registerWebhook',
    'editWebhook',
    'deleteWebhook',
    'rotateWebhookSecret',
    'enableWebhook',
    'disableWebhook',
    'testWebhook',
    'replayWebhook',
    'redeliver',
    'redriveWebhook',
  ].map((mutation) => [mutation, MANAGE]),
);

/** The right to a kind that is as visible as its parent, and the one to the parent, with their scopes. */
type AsParent = Readonly<
  Record<'right' | 'above', { readonly operation: Operation; readonly scope: string }>
>;

type SchemaRights = {
  readonly reading: Reading;
  readonly mutating: Mutating;
  readonly asParents: readonly AsParent[];
};

const schemaRightsOf = oncePer((domain: Domain): SchemaRights => makeRights(domain));

const makeRights = (domain: Domain): SchemaRights => {
  const sources = sourcesOf(domain).all;
  const reading = sources.flatMap(({ kind, right, items }) =>
    [
      ...[kind.type, ...items.map(({ list }) => itemType(kind, list))].flatMap((type) => [
        type,
        `${type}Connection`,
      ]),
      `${kind.type}Aggregate`,
      changeType(kind),
    ].map((type) => [type, right]),
  );
  const views = viewSourcesOf(domain).flatMap(({ view, right }) =>
    [view.type, `${view.type}Connection`].map((type) => [type, right] as const),
  );
  const mutating = sources.flatMap(({ kind }) => {
    const rightTo = ({ name }: CommandInfo): Operation => operationOf(kind, name) as Operation;
    return [
      ...mutatingCommands(kind).map((command) => [mutationName(kind, command), rightTo(command)] as const),
      ...uploadFieldsOf(kind).flatMap((field) =>
        Object.values(uploadMutations(kind, field)).map((each) => [each, rightTo(field.command)] as const),
      ),
    ];
  });
  const withScope = (operation: Operation) => ({ operation, scope: scopeOf(policyOf(domain), operation) });
  const asParents = sources.flatMap(({ kind, parent, right }) =>
    parent?.target && kind.rights.read?.as === parent.name
      ? [{ right: withScope(right), above: withScope(operationOf(parent.target, 'read')) }]
      : [],
  );
  return {
    reading: { ...kernelReading(domain), ...Object.fromEntries([...reading, ...views]) },
    mutating: { ...KERNEL_MUTATING, ...Object.fromEntries(mutating) },
    asParents,
  };
};

/** Which user a token stands for is private, even where everybody may read the names of users. */
const ME: Operation = 'user.read_private';

/** The rights that a caller must be admitted to before the operation runs, whatever its variables. */
export const rightsOf = (
  { domain, schema }: { readonly domain: Domain; readonly schema: GraphQLSchema },
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadonlySet<Operation> => {
  const rights = new Set<Operation>();
  const { reading, mutating } = schemaRightsOf(domain);
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const visit = (typeName: string, { selections }: SelectionSetNode): void => {
    const type = schema.getType(typeName);
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const { name, selectionSet } = selection;
        const mutation = type === schema.getMutationType() ? mutating[name.value] : undefined;
        if (mutation) rights.add(mutation);
        if (type === schema.getQueryType() && name.value === 'me') rights.add(ME);
        if (selectionSet && (isObjectType(type) || isInterfaceType(type)))
          enter(getNamedType(type.getFields()[name.value]?.type)?.name, selectionSet);
      } else if (selection.kind === Kind.INLINE_FRAGMENT)
        enter(selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
      else spread(fragments.get(selection.name.value));
    }
  };
  const enter = (typeName: string | undefined, selectionSet: SelectionSetNode): void => {
    const right = reading[typeName ?? ''];
    if (right) rights.add(right);
    if (typeName !== undefined) visit(typeName, selectionSet);
  };
  const spread = (fragment: FragmentDefinitionNode | undefined): void => {
    if (fragment === undefined || visited.has(fragment.name.value)) return;
    visited.add(fragment.name.value);
    enter(fragment.typeCondition.name.value, fragment.selectionSet);
  };
  const root = schema.getRootType(operation.operation);
  if (root) visit(root.name, operation.selectionSet);
  return rights;
};

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );

/**
 * The first missing right. A mutation needs the scopes of its whole result, even if that is public: otherwise
 * it would run and its result could not be returned.
 */
export const refusalOf = (
  caller: Caller,
  rights: ReadonlySet<Operation>,
  type: OperationTypeNode,
): Rejection | undefined => {
  const admitted = type === OperationTypeNode.MUTATION ? admitByScope : admit;
  for (const right of rights) {
    // Without a token, `me` is null and not refused.
    if (right === ME && caller.kind === 'anonymous') continue;
    const admission = admitted(caller, right);
    if (admission !== 'allowed') return admission;
  }
  return undefined;
};

/**
 * The caller as whom an operation runs. A child that is as visible as its parent leads to the parent. So, if
 * the token reads only public parents and the operation asks for both, it reads only children of public
 * parents.
 */
export const readerOf = (caller: Caller, rights: ReadonlySet<Operation>): Caller => {
  if (caller.kind !== 'user') return caller;
  const withheld = schemaRightsOf(caller.policy.domain)
    .asParents.filter(
      ({ right, above }) =>
        rights.has(above.operation) && rights.has(right.operation) && !caller.scopes.has(above.scope),
    )
    .map(({ right }) => right.scope);
  return withheld.length === 0
    ? caller
    : { ...caller, scopes: new Set([...caller.scopes].filter((scope) => !withheld.includes(scope))) };
};
