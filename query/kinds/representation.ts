import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { holds } from '#kernel/conditions/holds.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { editOf } from '#kernel/decide/forms.ts';
import { kebab, snake, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Domain } from '#kernel/registry/registry.ts';
import { type Caller, may, type Operation, type Resource, reachOf } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';
import { isReadAsParent, resourceUnder } from '../rights.ts';
import { type Member, type Row, type Source, sourcesOf } from '../sources.ts';
import { type ItemRow, labelOf, parentIn, resourceIn } from './rows.ts';

/** How the items of one kind are shown, and what can be done with them: compiled once. */
export type Representation = {
  /** An item as one caller sees it. It says nothing of when it was projected, so that it is the same after every rebuild. */
  represent(row: ItemRow, caller: Caller): Item;
  /** The version is told to those who are told all of it. */
  versionOf(row: ItemRow, caller: Caller): number | undefined;
  /** How to create one of them, under a parent where they have one. */
  creationOf(caller: Caller, parent?: ItemRow, resource?: Resource): Link | undefined;
};
type Item = { readonly [field: string]: unknown; readonly _links: Readonly<Record<string, Link>> };

/** What is asked of an item, and the links that it gets. */
type Linking = { readonly row: ItemRow; readonly resource: Resource; readonly caller: Caller; readonly links: Record<string, Link> };
type AddLinks = (linking: Linking) => void;

const made = new WeakMap<Source, Representation>();

export const representationOf = (domain: Domain, source: Source): Representation => {
  const representation = made.get(source) ?? makeRepresentation(domain, source);
  made.set(source, representation);
  return representation;
};

const makeRepresentation = (domain: Domain, source: Source): Representation => {
  const { guards, members, parent } = source;
  const shown = members.map((member) => ({ name: shownName(member, parent), guard: member.guard, read: readerOf(member, parent) }));
  const times = (['createdAt', 'updatedAt'] as const).map((name) => ({
    name,
    guard: guards.get(name),
    read: (row: ItemRow) => row[name === 'createdAt' ? 'created_at' : 'updated_at'].toISOString(),
  }));
  const fields = [...shown, ...times];
  const links = linksOf(domain, source);
  const rights = [...new Set(guards.values())];
  return {
    represent(row, caller) {
      const resource = resourceIn(source, row);
      const item: Record<string, unknown> = { id: row.id };
      for (const { name, guard, read } of fields) if (guard === undefined || may(caller, guard, resource)) item[name] = read(row);
      item._links = links(row, resource, caller);
      return item as Item;
    },
    versionOf(row, caller) {
      const resource = resourceIn(source, row);
      return rights.every((right) => may(caller, right, resource)) ? row.version : undefined;
    },
    creationOf: creationOf(domain, source),
  };
};

const shownName = (member: Member, parent: Member | undefined): string =>
  member.name !== parent?.name && labelOf(member) !== undefined ? member.name : wire(member.name, member.def);

const readerOf = (member: Member, parent: Member | undefined): ((row: ItemRow) => unknown) => {
  const { name, column, def } = member;
  const label = name === parent?.name ? undefined : labelOf(member);
  if (label !== undefined) {
    const erased = member.target?.fields[label]?.personal?.erased ?? null;
    const joined = `${name}.${snake(label)}`;
    return (row) => (row[column] === null ? null : { id: row[column], [label]: row[joined] ?? erased });
  }
  const erased = def.personal?.erased;
  if (def.kind === 'instant') return (row) => (row[column] as Date | null)?.toISOString() ?? null;
  return erased === undefined ? (row) => row[column] : (row) => row[column] ?? erased;
};

const linksOf = (domain: Domain, source: Source) => {
  const { kind, members } = source;
  const parts: readonly AddLinks[] = [
    ...members.flatMap((member) => (member.target ? [referenceLink(domain, source, member)] : [])),
    ...childLinks(domain, source),
    ...Object.values(kind.commands).flatMap((command) => (command.internal ? [] : [commandLink(domain, source, command)])),
    ...uploadLinks(source),
  ];
  return (row: ItemRow, resource: Resource, caller: Caller): Item['_links'] => {
    const self = `/${kind.path}/${row.id}`;
    const links: Record<string, Link> = { self: { href: self } };
    if (may(caller, 'events.read', NOTHING)) links.history = { href: `${self}/history` };
    const linking = { row, resource, caller, links };
    for (const part of parts) part(linking);
    return links;
  };
};

const NOTHING: Resource = {};

/** What is gone, or is no more than a name, has no address. */
const referenceLink = (domain: Domain, source: Source, member: Member): AddLinks => {
  const { name, column, target } = member;
  const other = target && sourcesOf(domain).of(target.name);
  if (!target || !other) return () => {};
  const isParent = name === source.parent?.name;
  const [rel, label] = [kebab(name), target.label === undefined ? undefined : `${name}.${snake(target.label)}`];
  return ({ row, caller, links }) => {
    const id = row[column];
    const isThere = isParent || (label === undefined ? typeof id === 'number' : row[label] !== null);
    if (isThere && may(caller, other.right, isParent ? parentIn(source, row) : { fields: { id } }))
      links[rel] = { href: `/${target.path}/${id}` };
  };
};

const childLinks = (domain: Domain, source: Source): readonly AddLinks[] =>
  source.children.flatMap(({ kind }): readonly AddLinks[] => {
    const child = sourcesOf(domain).of(kind.name);
    if (!child) return [];
    const { right, parent } = child;
    const create = parent ? creationOf(domain, child) : undefined;
    const [isAsParent, rel] = [isReadAsParent(child), kebab(kind.name)];
    return [
      ({ row, resource, caller, links }) => {
        const isListed = isAsParent ? may(caller, right, resourceUnder(source, resource)) : reachOf(caller, right).size > 0;
        if (isListed) links[kind.path] = { href: `/${source.kind.path}/${row.id}/${kind.path}` };
        const link = create?.(caller, row, resource);
        if (link) links[rel] = link;
      },
    ];
  });

const conditionOf = (domain: Domain, { kind }: Source, { when }: CommandInfo): Expression | undefined =>
  when === undefined ? undefined : resolve(domain, kind, when);

const idOf = (caller: Caller): number | null => (caller.kind === 'user' ? caller.userId : null);

const isFulfilled = (condition: Expression | undefined, { fields = {}, find = () => undefined }: Resource, caller: Caller): boolean =>
  condition === undefined || holds(condition, fields, idOf(caller), find);

/** An action is there if the caller may take it, and it would change something. */
const commandLink = (domain: Domain, source: Source, command: CommandInfo): AddLinks => {
  const { kind, members } = source;
  if (command.kind === 'create') return () => {};
  const right = operationOf(kind, command.name) as Operation;
  const condition = conditionOf(domain, source, command);
  const columnOf = (name: string): string => members.find((member) => member.name === name)?.column ?? name;
  // What was erased with its person cannot be written anew.
  const needed = command.form.flatMap((name) => {
    const def = kind.fields[name];
    return def?.personal && !def.optional ? [columnOf(name)] : [];
  });
  const [event, ...others] = command.events;
  const sets = others.length > 0 || !event ? [] : Object.entries(event.sets).filter(([, value]) => value !== 'now' && value !== 'caller');
  const changes = command.form.length > 0 ? [] : sets.map(([name, value]) => [columnOf(name), value] as const);
  const method = command.kind === 'end' ? 'DELETE' : command.kind === 'edit' ? 'PATCH' : 'POST';
  const rel = command.kind === 'edit' ? 'edit' : kebab(command.name);
  return ({ row, resource, caller, links }) => {
    const isPossible =
      needed.every((column) => row[column] !== null) &&
      (changes.length === 0 || changes.some(([column, value]) => row[column] !== value)) &&
      isFulfilled(condition, resource, caller) &&
      may(caller, right, resource);
    if (isPossible) links[rel] = { href: method === 'POST' ? `/${kind.path}/${row.id}/${rel}` : `/${kind.path}/${row.id}`, method };
  };
};

const uploadLinks = ({ kind, members }: Source): readonly AddLinks[] => {
  const edit = editOf(kind);
  if (!edit) return [];
  const right = operationOf(kind, edit.name) as Operation;
  return members
    .filter(({ def }) => def.publicFile)
    .map(({ name, column }): AddLinks => {
      const rel = kebab(name);
      return ({ row, resource, caller, links }) => {
        if (!may(caller, right, resource)) return;
        const href = `/${kind.path}/${row.id}/${rel}`;
        links[rel] = { href, method: 'PUT' };
        if (row[column] !== null) links[`un${rel}`] = { href, method: 'DELETE' };
      };
    });
};

/** What is about to be is the caller’s own. */
const creationOf = (domain: Domain, source: Source): Representation['creationOf'] => {
  const { kind, owner, parent } = source;
  const command = Object.values(kind.commands).find((each) => each.kind === 'create' && !each.internal);
  if (!command) return () => undefined;
  const right = operationOf(kind, command.name) as Operation;
  const condition = conditionOf(domain, source, command);
  const above = parent?.target && sourcesOf(domain).of(parent.target.name);
  return (caller, row?: Row, resource?: Resource) => {
    if (caller.kind !== 'user') return undefined;
    const fields: Record<string, unknown> = {};
    if (owner) fields[owner.name] = caller.userId;
    if (parent) fields[parent.name] = row?.id;
    const there = above && row ? resourceUnder(above, resource ?? resourceIn(above, row)) : {};
    const about: Resource = { ...there, fields };
    if (!may(caller, right, about) || !isFulfilled(condition, about, caller)) return undefined;
    return { href: above && row ? `/${above.kind.path}/${String(row.id)}/${kind.path}` : `/${kind.path}`, method: 'POST' };
  };
};
