// Over 200 lines, because it is one answer: the links of an item, and the conditions of each.

import { kebab, snake } from '#kernel/base/names.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { always, or, resolve } from '#kernel/conditions/expression.ts';
import { type Holds, holdsOf } from '#kernel/conditions/holds.ts';
import { guardOfField, partOfItems, partsWrittenBy } from '#kernel/conditions/parts-of.ts';
import { possiblyTrue } from '#kernel/conditions/possibly.ts';
import { operationOf, READERS } from '#kernel/conditions/rights.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { constantsIn } from '#kernel/registry/constants-in.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '#kernel/registry/registry.ts';
import {
  type Caller,
  type MayDo,
  may,
  mayOf,
  ownOf,
  type Resource,
  reachOf,
  userIdOf,
} from '#shared/policy.ts';
import { isReadAsParent, resourceUnder } from '../rows/rights.ts';
import type { Member, Source } from '../rows/source.ts';
import { type Row, sourcesOf } from '../rows/sources.ts';
import { mayProve } from './may-prove.ts';
import { type ItemRow, parentIn, resourceIn } from './rows.ts';
import { joinedAs, roomOf } from './selection.ts';
import { targetIn, targetSeenBy } from './targets.ts';

type Links = Readonly<Record<string, Link>>;
export type CreationUnder = (parent?: ItemRow, resource?: Resource) => Link | undefined;

/** An item with the facts for rights, and the links collected so far. */
type Linking = { readonly row: ItemRow; readonly resource: Resource; readonly links: Record<string, Link> };
type AddLinks = (linking: Linking) => void;
/** Undefined for callers who never get these links. */
type LinksFor = (caller: Caller) => AddLinks | undefined;

/** The links of items of one kind to actions and other items: compiled once, and resolved once per caller. */
export const linksOf = (domain: Domain, source: Source) => {
  const { kind, members } = source;
  const parts: readonly LinksFor[] = [
    ...members.flatMap((member) => (member.target ? [referenceLink(domain, source, member)] : [])),
    ...childLinks(domain, source),
    ...Object.values(kind.lists).map((list) => itemsLink(kind, list)),
    ...Object.values(kind.commands).flatMap((command) =>
      command.internal ? [] : [commandLink(domain, source, command)],
    ),
    ...uploadLinks(domain, source),
  ];
  return (caller: Caller) => {
    const hasHistory = may(caller, 'events.read', NOTHING);
    const hasProof = mayProve(domain, caller);
    const mayReadReaders = kind.reads && mayOf(caller, operationOf(kind, READERS));
    const added = parts.flatMap((part) => part(caller) ?? []);
    return (row: ItemRow, resource: Resource): Links => {
      const self = `/${kind.path}/${row.id}`;
      const links: Record<string, Link> = { self: { href: self } };
      if (hasHistory) links.history = { href: `${self}/history` };
      if (mayReadReaders?.(resource)) links.readers = { href: `${self}/readers` };
      if (hasProof) links.proof = { href: `${self}/proof` };
      const linking = { row, resource, links };
      for (const add of added) add(linking);
      return links;
    };
  };
};

const NOTHING: Resource = {};

/** Deleted targets, and those that are only a name, have no address. */
const referenceLink = (domain: Domain, source: Source, member: Member): LinksFor => {
  const { name, column, target, guard } = member;
  const other = target && sourcesOf(domain).of(target.name);
  if (!target || !other) return () => undefined;
  const isParent = name === source.parent?.name;
  const [rel, label] = [
    kebab(name),
    target.label === undefined ? undefined : joinedAs([name], snake(target.label)),
  ];
  const isTargetSeenBy =
    isParent || label === undefined ? undefined : targetSeenBy(targetIn(source, member, target));
  return (caller) => {
    const isReadable = mayOf(caller, other.right);
    const isSeen = guard && mayOf(caller, guard);
    const isTargetSeen = isTargetSeenBy?.(caller);
    return ({ row, resource, links }) => {
      if (isSeen?.(resource) === false) return;
      const id = row[column];
      const isLinked =
        isTargetSeen === undefined || label === undefined
          ? (isParent || typeof id === 'number') &&
            isReadable(isParent ? parentIn(source, row) : { fields: { id } })
          : row[label] !== null && isTargetSeen(row);
      if (isLinked) links[rel] = { href: `/${target.path}/${id}` };
    };
  };
};

const childLinks = (domain: Domain, source: Source): readonly LinksFor[] =>
  source.children.flatMap(({ kind }): readonly LinksFor[] => {
    const child = sourcesOf(domain).of(kind.name);
    if (!child) return [];
    const { right, parent } = child;
    const creation = parent ? creationBy(domain, child) : undefined;
    const [isAsParent, rel] = [isReadAsParent(child), kebab(kind.name)];
    return [
      (caller) => {
        const [isReadable, hasAny, create] = [
          mayOf(caller, right),
          reachOf(caller, right).size > 0,
          creation?.(caller),
        ];
        return ({ row, resource, links }) => {
          const isListed = isAsParent ? isReadable(resourceUnder(source, resource)) : hasAny;
          if (isListed) links[kind.path] = { href: `/${source.kind.path}/${row.id}/${kind.path}` };
          const link = create?.(row, resource);
          if (link) links[rel] = link;
        };
      },
    ];
  });

/**
 * True if a caller may execute the command and its condition holds; unknown fields count in favour. Undefined
 * for callers who never may.
 */
export const possibleOf = (
  domain: Domain,
  { kind }: Source,
  command: CommandInfo,
  unknown: ReadonlySet<string> = NONE,
): ((caller: Caller) => MayDo | undefined) => {
  const { name, when } = command;
  const right = operationOf(kind, name) as Operation;
  const holds: Holds | undefined =
    when === undefined ? undefined : holdsOf(possiblyTrue(resolve(domain, kind, when), unknown));
  const parts = partsWrittenBy(kind, command).map((part) => operationOf(kind, part));
  return (caller) => {
    if (reachOf(caller, right).size === 0) return undefined;
    const [mayDo, userId, own] = [mayPossibly(caller, right, unknown), userIdOf(caller), ownOf(caller)];
    const asks = parts.map((part) => mayOf(caller, part));
    const isAllowed: MayDo =
      asks.length === 0 ? mayDo : (resource) => mayDo(resource) && asks.every((isSeen) => isSeen(resource));
    if (holds === undefined) return isAllowed;
    return (resource) =>
      holds(resource.fields ?? {}, userId, resource.find ?? (() => undefined), own) && isAllowed(resource);
  };
};

const NONE: ReadonlySet<string> = new Set();

/** Like `mayOf`, but a condition on unknown fields counts as true. */
const mayPossibly = (caller: Caller, right: Operation, unknown: ReadonlySet<string>): MayDo => {
  if (unknown.size === 0) return mayOf(caller, right);
  const holds = holdsOf(or(...[...reachOf(caller, right)].map((each) => possiblyTrue(each, unknown))));
  return ({ fields = {}, find = () => undefined }) => holds(fields, userIdOf(caller), find, ownOf(caller));
};

/** A list has no link if the caller may read none of its items. */
const itemsLink = (kind: Kind, list: ListInfo): LinksFor => {
  const part = partOfItems(kind, list);
  const right = part?.of === always ? operationOf(kind, part.name) : undefined;
  return (caller) => {
    const isSeen = right && mayOf(caller, right);
    return ({ row, resource, links }) => {
      if (isSeen?.(resource) !== false)
        links[kebab(list.name)] = { href: `/${kind.path}/${row.id}/${kebab(list.name)}` };
    };
  };
};

/** A link to add an item, if there is room. The actions on an item are linked by the item. */
const additionLink = (domain: Domain, source: Source, command: CommandInfo, list: ListInfo): LinksFor => {
  const possible = possibleOf(domain, source, command);
  const rel = kebab(command.name);
  const end = kebab(command.verb ?? list.name);
  return (caller) => {
    const isPossible = possible(caller);
    if (isPossible === undefined) return undefined;
    return ({ row, resource, links }) => {
      if (row[roomOf(list)] !== false && isPossible(resource))
        links[rel] = { href: `/${source.kind.path}/${row.id}/${end}`, method: 'POST' };
    };
  };
};

/** A link to an action exists if the caller may take it and it would change something. */
const commandLink = (domain: Domain, source: Source, command: CommandInfo): LinksFor => {
  const { kind, members } = source;
  if (command.kind === 'create') return () => undefined;
  if (command.list !== undefined)
    return command.kind === 'addItem' ? additionLink(domain, source, command, command.list) : () => undefined;
  const possible = possibleOf(domain, source, command);
  const columnOf = (name: string): string => members.find((member) => member.name === name)?.column ?? name;
  // Data that was erased with its person cannot be written again.
  const needed = command.form.flatMap((name) => {
    const def = kind.fields[name];
    return def?.personal && !def.optional ? [columnOf(name)] : [];
  });
  const [event, ...others] = command.events;
  const sets = others.length > 0 || !event || event.computes.length > 0 ? [] : constantsIn(event.sets);
  // A missing link must not reveal the current value of a guarded field.
  const readable = sets.filter(([name]) => guardOfField(kind, name) === undefined);
  const changes =
    command.form.length > 0 || readable.length < sets.length
      ? []
      : readable.map(([name, value]) => [columnOf(name), value] as const);
  const method = command.kind === 'end' ? 'DELETE' : command.kind === 'edit' ? 'PATCH' : 'POST';
  const rel = command.kind === 'edit' ? 'edit' : kebab(command.name);
  return (caller) => {
    const isPossible = possible(caller);
    if (isPossible === undefined) return undefined;
    return ({ row, resource, links }) => {
      if (!needed.every((column) => row[column] !== null)) return;
      if (changes.length > 0 && !changes.some(([column, value]) => row[column] !== value)) return;
      if (!isPossible(resource)) return;
      links[rel] = {
        href: method === 'POST' ? `/${kind.path}/${row.id}/${rel}` : `/${kind.path}/${row.id}`,
        method,
      };
    };
  };
};

const uploadLinks = (domain: Domain, source: Source): readonly LinksFor[] => {
  const { kind, members } = source;
  return uploadFieldsOf(kind)
    .filter(({ list }) => list === undefined)
    .map(({ name, command }): LinksFor => {
      const column = members.find((member) => member.name === name)?.column ?? name;
      const possible = possibleOf(domain, source, command);
      return (caller) => {
        const isPossible = possible(caller);
        if (isPossible === undefined) return undefined;
        return ({ row, resource, links }) => {
          if (isPossible(resource))
            Object.assign(
              links,
              fileLinks(name, kind.fields[name] ?? {}, [`/${kind.path}/${row.id}`, row[column]]),
            );
        };
      };
    });
};

/** The links to set a file, and to remove it if there is one that is not required. */
export const fileLinks = (
  field: string,
  { optional }: Pick<FieldDef, 'optional'>,
  [of, value]: Place,
): Links => {
  const rel = kebab(field);
  const href = `${of}/${rel}`;
  return {
    [rel]: { href, method: 'PUT' },
    ...(value !== null && optional && { [`un${rel}`]: { href, method: 'DELETE' } }),
  };
};
type Place = readonly [of: string, value: unknown];

/** The fields unknown before the form is sent: all but the owner and the parent. */
const formOnly = ({ owner, parent }: Source, { form }: CommandInfo): ReadonlySet<string> =>
  new Set(form.filter((name) => name !== owner?.name && name !== parent?.name));

/** The caller owns what they create. */
export const creationBy = (domain: Domain, source: Source): ((caller: Caller) => CreationUnder) => {
  const { kind, owner, parent } = source;
  const command = Object.values(kind.commands).find((each) => each.kind === 'create' && !each.internal);
  if (!command) return () => () => undefined;
  const possible = possibleOf(domain, source, command, formOnly(source, command));
  const above = parent?.target && sourcesOf(domain).of(parent.target.name);
  return (caller) => {
    const isPossible = possible(caller);
    if (caller.kind !== 'user' || isPossible === undefined) return () => undefined;
    return (row?: Row, resource?: Resource) => {
      const fields: Record<string, unknown> = {};
      if (owner) fields[owner.name] = caller.userId;
      if (parent) fields[parent.name] = row?.id;
      const there = above && row ? resourceUnder(above, resource ?? resourceIn(above, row)) : {};
      if (!isPossible({ ...there, fields })) return undefined;
      return {
        href: above && row ? `/${above.kind.path}/${String(row.id)}/${kind.path}` : `/${kind.path}`,
        method: 'POST',
      };
    };
  };
};
