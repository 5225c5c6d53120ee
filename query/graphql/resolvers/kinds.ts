import { isAlwaysShown, isReadableWith } from '#kernel/conditions/references.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { may } from '#shared/policy.ts';
import { isLong } from '../../kinds/alone.ts';
import { isReadAsParent, resourceUnder } from '../../rows/rights.ts';
import type { Child, Member, Source } from '../../rows/source.ts';
import { demandSource, rightsToField, sourcesOf } from '../../rows/sources.ts';
import { mayBeAbsent } from '../rules/absence.ts';
import { idArgument, listsOf, memberName } from '../rules/names.ts';
import type { Context, Resolver } from './context.ts';
import { listsIn } from './items.ts';
import { type Listed, readConnection, readPlainList } from './lists.ts';
import { common, dated, demandRow, fieldValue, findTarget, idIn, listed } from './reads.ts';
import type { Row } from './rows.ts';
import { uploadFieldsIn } from './uploads.ts';

type Resolvers = Readonly<Record<string, Resolver>>;

/** The fields of an aggregate in its row, and its references. */
export const resolversOf = (domain: Domain, source: Source): Resolvers => ({
  ...common,
  version: guarded(source, 'version', common.version),
  ...Object.fromEntries(Object.entries(dated).map(([name, read]) => [name, guarded(source, name, read)])),
  ...Object.fromEntries(source.members.flatMap((member) => membersOf(domain, source, member))),
  ...listsIn(source),
  ...Object.fromEntries(
    source.children.flatMap((child) =>
      childrenOf(source, demandSource(sourcesOf(domain), child.kind.name), child),
    ),
  ),
});

const membersOf = (
  domain: Domain,
  source: Source,
  member: Member,
): readonly (readonly [string, Resolver])[] => {
  const { name, column, def, target } = member;
  if (target)
    return [
      [memberName(member), guarded(source, name, referenceTo(domain, source, member, target))],
      ...(mayBeAbsent(domain, source, member)
        ? [[idArgument(member), guarded(source, name, idIn(column))] as const]
        : []),
    ];
  const read: Resolver = isLong(member)
    ? (row: Row, _args, { loaders }) => loaders.text(row, column)
    : (row: Row) => fieldValue(def, row[column]);
  return [[name, guarded(source, name, read)], ...uploadFieldsIn([member], 'id')];
};

const referenceTo = (domain: Domain, { kind }: Source, member: Member, target: Kind): Resolver => {
  const { column } = member;
  if (isAlwaysShown(domain, kind, member))
    return (row: Row, _args, context) => {
      const id = row[column];
      return typeof id === 'number' ? demandRow(context, target.type, id) : null;
    };
  const shown = { kind: target, isReadable: isReadableWith(domain, kind, member) };
  return (row: Row, _args, context) => findTarget(context, shown, row[column]);
};

/** Null for callers without the right, and for deleted users. */
const guarded = (source: Source, field: string, read: Resolver): Resolver => {
  const rights = rightsToField(source, field);
  if (rights.length === 0) return read;
  return async (row: Row, args, context, key) =>
    (await context.loaders.mayRead(row, rights)) ? read(row as never, args, context, key) : null;
};

const NOBODY = -1;

const childrenOf = (
  above: Source,
  source: Source,
  { kind, column }: Child,
): readonly (readonly [string, Resolver])[] => {
  const parentOf = listedUnder(above, source, { kind, column });
  return [
    [listsOf(kind), listed(parentOf, readPlainList)],
    [`${listsOf(kind)}Connection`, listed(parentOf, readConnection)],
  ];
};

/** The list of a parent or an owner; of nobody if the caller may list nothing there. */
export const listedUnder = (
  above: Source,
  source: Source,
  { kind, column }: Pick<Child, 'kind' | 'column'>,
): ((row: Row, context: Context) => Promise<Listed>) => {
  const isAsked = isReadAsParent(source);
  return async (row, context) => {
    const parentId = isAsked && !(await mayReadUnder(above, source, row, context)) ? NOBODY : row.id;
    return { type: kind.type, parent: column, parentId };
  };
};

/** True if the caller may read the children of this parent, which are as visible as the parent. */
const mayReadUnder = async (
  above: Source,
  { right }: Source,
  parent: Row,
  { caller, loaders }: Context,
): Promise<boolean> => {
  const resource = await loaders.resourceOf(parent);
  return resource !== undefined && may(caller, right, resourceUnder(above, resource));
};
