import { isoText } from '#kernel/base/instant.ts';
import { snake, wire } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { isAlwaysShown } from '#kernel/conditions/references.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { type Caller, mayOf, type Resource } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import type { Member, Source } from '../rows/source.ts';
import { type CreationUnder, creationBy, linksOf } from './links.ts';
import { type ItemRow, resourceIn } from './rows.ts';
import { joinedAs, labelOf } from './selection.ts';
import { targetIn, targetSeenBy } from './targets.ts';

/** How the items of one kind are shown, with their links: compiled once. */
type Representation = {
  /**
   * For one caller, whose rights are resolved once for all items. `withheld` rights, which they lack now,
   * apply to former states too.
   */
  to(caller: Caller, withheld?: ReadonlySet<Operation>): Shown;
  /** The link to create an item, under a parent if the kind has one. */
  creationBy(caller: Caller): CreationUnder;
};
type Shown = {
  /** Contains no time of projection, so it is the same after every rebuild. */
  represent(row: ItemRow): Item;
  /** The version, for callers who see the whole item. */
  versionOf(row: ItemRow): number | undefined;
};
type Item = { readonly [field: string]: unknown; readonly _links: Readonly<Record<string, Link>> };

const NOTHING: ReadonlySet<Operation> = new Set();

export const representationOf = (domain: Domain, source: Source): Representation =>
  representationsOf(domain)(source);

const representationsOf = oncePer((domain: Domain) =>
  oncePer((source: Source) => makeRepresentation(domain, source)),
);

const makeRepresentation = (domain: Domain, source: Source): Representation => {
  const { guards, members, parent, whole, traced } = source;
  const note = noteOf(source.kind);
  const shown = members.map((member) => ({
    name: shownName(member, parent),
    field: member.name,
    guard: member.guard,
    readFor: readerOf(domain, source, member),
  }));
  const times = (['createdAt', 'updatedAt'] as const).map((name) => ({
    name,
    field: name,
    guard: guards.get(name),
    readFor: () => (row: ItemRow) => isoText(name === 'createdAt' ? row.created_at : row.updated_at),
  }));
  const fields = [...shown, ...times];
  const linksFor = linksOf(domain, source);
  return {
    to(caller, withheld = NOTHING) {
      const asks = new Map(
        whole.map((right) => [right, withheld.has(right) ? () => false : mayOf(caller, right)]),
      );
      const seesAll = (resource: Resource): boolean => [...asks.values()].every((isSeen) => isSeen(resource));
      // `updatedAt` needs the same rights as the version: it would reveal that a hidden field was changed.
      const seen = fields.map(({ name, field, guard, readFor }) => ({
        name,
        field,
        read: readFor(caller),
        isSeen: name === 'updatedAt' && traced.length > 0 ? seesAll : guard && asks.get(guard),
      }));
      const links = linksFor(caller);
      const isWhole = seen.every(({ isSeen }) => isSeen === undefined);
      const all = seen.map(({ field }) => field);
      return {
        represent(row) {
          const resource = resourceIn(source, row);
          const item: Record<string, unknown> = { id: row.id };
          for (const { name, isSeen, read } of seen)
            if (isSeen === undefined || isSeen(resource)) item[name] = read(row);
          note?.(row.id, isWhole ? all : shownIn(seen, item));
          item._links = links(row, resource);
          return item as Item;
        },
        versionOf(row) {
          return seesAll(resourceIn(source, row)) ? row.version : undefined;
        },
      };
    },
    creationBy: creationBy(domain, source),
  };
};

const shownIn = (
  seen: readonly { readonly name: string; readonly field: string }[],
  item: Readonly<Record<string, unknown>>,
): readonly string[] => seen.flatMap(({ name, field }) => (Object.hasOwn(item, name) ? [field] : []));

const shownName = (member: Member, parent: Member | undefined): string =>
  member.name !== parent?.name && labelOf(member) !== undefined ? member.name : wire(member.name, member.def);

type ReadFor = (caller: Caller) => (row: ItemRow) => unknown;

const readerOf = (domain: Domain, source: Source, member: Member): ReadFor => {
  const { name, column, def } = member;
  const label = name === source.parent?.name ? undefined : labelOf(member);
  if (label !== undefined && member.target) return labelledOf(domain, source, member, member.target);
  const erased = def.personal?.erased;
  if (def.kind === 'instant')
    return () => (row) => (row[column] === null ? null : isoText(row[column] as Date));
  return erased === undefined ? () => (row) => row[column] : () => (row) => row[column] ?? erased;
};

/** A reference with the label of its target; the label is null if the target is absent for this caller. */
const labelledOf = (domain: Domain, source: Source, member: Member, target: Kind): ReadFor => {
  const { name, column } = member;
  const note = noteOf(target);
  const { label = '' } = target;
  const erased = target.fields[label]?.personal?.erased ?? null;
  const absent = isAlwaysShown(domain, source.kind, member) ? erased : null;
  const joined = joinedAs([name], snake(label));
  const isSeenBy = targetSeenBy(targetIn(source, member, target));
  return (caller) => {
    const isSeen = isSeenBy(caller);
    const labels = [label];
    return (row) => {
      if (row[column] === null) return null;
      const isShown = isSeen(row);
      if (isShown) note?.(row[column] as number, labels);
      return { id: row[column], [label]: isShown ? (row[joined] ?? erased) : absent };
    };
  };
};
