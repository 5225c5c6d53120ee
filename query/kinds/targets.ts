import type { Operation } from '#kernel/base/operation.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { type Caller, mayAlways, mayOf } from '#shared/policy.ts';
import type { Needs } from '../rows/needs.ts';
import type { Member, Source } from '../rows/source.ts';
import { fieldsIn, type Row } from '../rows/sources.ts';
import { findIn } from './rows.ts';
import { ENDED_COLUMN, hidesEnded, joinedAs } from './selection.ts';

/**
 * The target of a reference, joined to a row under the name of the reference. `needs` are the columns on
 * which the right to read it depends; without them, it depends on the caller’s role alone.
 */
export type JoinedTarget = {
  readonly name: string;
  readonly right: Operation;
  readonly needs: Needs | undefined;
  /** True if the row of the target may stay after its end, but shows nothing then. */
  readonly hidesEnded: boolean;
};

/** The target of a reference of an aggregate. */
export const targetIn = ({ targets }: Source, member: Member, target: Kind): JoinedTarget => ({
  name: member.name,
  right: operationOf(target, 'read'),
  needs: targets.get(member.name),
  hidesEnded: hidesEnded(member),
});

/**
 * Hides the target in a former row from callers who may not read it any more. No column of a target has such a
 * name.
 */
export const withheldColumn = ({ name }: Pick<JoinedTarget, 'name'>): string => `withheld:${name}`;

/** The targets in a former row whose labels are withheld. */
export const withheldTargets = async (
  { members, parent }: Source,
  row: Row,
  isSeenNow: (kind: Kind, id: number) => Promise<boolean>,
): Promise<Row> => {
  const asked = members.flatMap(({ name, column, target }) =>
    target?.label !== undefined && name !== parent?.name && typeof row[joinedAs([name], 'id')] === 'number'
      ? [{ name, target, id: row[column] as number }]
      : [],
  );
  // At the same time, so that one statement reads the facts of all targets of a kind.
  const isSeen = await Promise.all(asked.map(({ target, id }) => isSeenNow(target, id)));
  return Object.fromEntries(asked.map(({ name }, index) => [withheldColumn({ name }), !isSeen[index]]));
};

/**
 * Whether a reference shows anything of its target: only what the caller may read of the target itself. A
 * target that has ended looks like one that the caller may not read.
 */
export const targetSeenBy = (target: JoinedTarget): ((caller: Caller) => (row: Row) => boolean) => {
  const { name, right, needs } = target;
  const [idColumn, withheld, prefix] = [joinedAs([name], 'id'), withheldColumn(target), `${name}.`];
  const endedAt = target.hidesEnded ? joinedAs([name], ENDED_COLUMN) : undefined;
  const isThere = (row: Row): boolean =>
    typeof row[idColumn] === 'number' &&
    row[withheld] !== true &&
    (endedAt === undefined || (row[endedAt] ?? null) === null);
  // A token may lack the scope of the right, though its user may read every target.
  if (needs === undefined) return (caller) => (mayAlways(caller, right) ? isThere : () => false);
  return (caller) => {
    const isReadable = mayOf(caller, right);
    return (row) =>
      isThere(row) &&
      isReadable({
        fields: fieldsIn(needs, row, 'joined'),
        find: (kind, id) => findIn(needs, row, { kind, id, prefix }),
      });
  };
};
