import { sqlName } from '#kernel/base/names.ts';
import type { State } from '#kernel/conditions/holds.ts';
import { askedColumn } from '#kernel/conditions/lists.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { Resource } from '#shared/policy.ts';
import type { Needs } from '../rows/needs.ts';
import type { Source } from '../rows/source.ts';
import { fieldsIn, type Row } from '../rows/sources.ts';
import { behind, type Joined, joinedAs, joinedOf } from './selection.ts';

/**
 * A row of a kind with the columns read of its references’ targets, named after the reference: `author.name`,
 * `article.status`. `author.id` is null if the target is missing: parked or about to be deleted.
 */
export type ItemRow = Row & {
  readonly id: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** The facts that rights to a row depend on. */
export const resourceIn = ({ needs }: Source, row: Row): Resource => {
  const fields = fieldsIn(needs, row);
  return needs.behind.length === 0
    ? { fields }
    : { fields, find: (kind, id) => findIn(needs, row, { kind, id, prefix: '' }) };
};

type Wanted = { readonly kind: string; readonly id: unknown; readonly prefix: string };

export const findIn = (needs: Needs, row: Row, wanted: Wanted): State | undefined => {
  const found = allIn(needs, row, wanted);
  return found.length === 0 ? undefined : Object.assign({}, ...found);
};

/** Several references may have the same target, and each has only the columns needed through itself. */
const allIn = ({ behind: references }: Needs, row: Row, { kind, id, prefix }: Wanted): readonly State[] =>
  references.flatMap(({ reference, kind: target, needs }) => {
    const there = `${prefix}${reference}.`;
    const found = row[sqlName(`${there}id`)];
    if (typeof found !== 'number') return [];
    const own = target.name === kind && found === id ? [fieldsIn(needs, row, 'joined')] : [];
    return [...own, ...allIn(needs, row, { kind, id, prefix: there })];
  });

/** The parent in the columns of a row, as facts of its own. */
export const parentIn = ({ parent, needs }: Source, row: Row): Resource => {
  const above = needs.behind.find(({ reference }) => reference === parent?.name);
  if (!above) return {};
  const { needs: behindIt, reference } = above;
  return {
    fields: fieldsIn(behindIt, row, 'joined'),
    find: (kind, id) => findIn(behindIt, row, { kind, id, prefix: `${reference}.` }),
  };
};

/** The columns that a child row has of this row and its references. */
export const asParent = (child: Source, parent: Row): Row => {
  const above = child.needs.behind.find(({ reference }) => reference === child.parent?.name);
  const prefix = `${above?.reference}.`;
  return Object.fromEntries(
    (above ? joinedIn(above.needs) : []).map((joined) => [
      sqlName(joined),
      parent[sqlName(joined.slice(prefix.length))],
    ]),
  );
};

const joinedIn = ({ fields, lists, behind: references }: Needs): readonly string[] => [
  ...[...fields, ...lists].map(({ joined }) => joined),
  ...references.flatMap(({ needs }) => joinedIn(needs)),
];

export type FindRow = (kind: Kind, id: number) => Promise<Row | undefined>;

/** A row with its references, each found by itself; undefined if the parent is missing. */
export const withReferences = async (source: Source, row: Row, find: FindRow): Promise<ItemRow | undefined> =>
  (await joinTargets(joinedOf(source), { row, find, parent: source.parent?.name })) as ItemRow | undefined;

/** The facts that rights to a row depend on, each found by itself; undefined if the parent is missing. */
export const resourceOf = async (source: Source, row: Row, find: FindRow): Promise<Resource | undefined> => {
  const joined = behind(source.needs, []);
  const whole = await joinTargets(joined, { row, find, parent: source.parent?.name });
  return whole && resourceIn(source, whole);
};

type Joining = { readonly row: Row; readonly find: FindRow; readonly parent?: string | undefined };

/** A row with its targets, each found by itself; undefined if the parent is missing. */
export const joinTargets = async (
  joined: readonly Joined[],
  { row, find, parent }: Joining,
): Promise<Row | undefined> => {
  const whole: Record<string, unknown> = { ...row };
  for (const { path, column, kind, columns, lists } of joined) {
    const id = whole[joinedAs(path.slice(0, -1), column)];
    const other = typeof id === 'number' ? await find(kind, id) : undefined;
    if (!other && path.length === 1 && path[0] === parent) return undefined;
    for (const each of [...columns, ...lists.map(askedColumn)])
      whole[joinedAs(path, each)] = other?.[each] ?? null;
  }
  return whole;
};
