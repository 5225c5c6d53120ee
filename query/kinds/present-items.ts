import { isoText } from '#kernel/base/instant.ts';
import { kebab, wire } from '#kernel/base/names.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { always, conditionOnItem } from '#kernel/conditions/expression.ts';
import { holdsOf, type State } from '#kernel/conditions/holds.ts';
import { guardOfField } from '#kernel/conditions/parts-of.ts';
import { areEqual } from '#kernel/decide/are-equal.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { constantsIn } from '#kernel/registry/constants-in.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { type Caller, ownOf, type Resource, userIdOf } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import type { ItemSource, Member, Source } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { joinedReferences } from './item-references.ts';
import { fileLinks, possibleOf } from './links.ts';
import { targetSeenBy } from './targets.ts';

/** The aggregate that has the items. */
export type Above = { readonly id: number; readonly resource: Resource; readonly hasRoom: boolean };
type Presented = {
  represent(row: Row): { readonly _links: Readonly<Record<string, Link>> };
  readonly create: Link | undefined;
};

/** How items are shown to a caller, and the links to their actions. */
export const presentItems = (
  domain: Domain,
  source: Source,
  { list, members }: ItemSource,
): ((caller: Caller, above: Above) => Presented) => {
  const { kind } = source;
  const [note, noted] = [noteOf(kind), [list.name]];
  const shown = members.map((member) => readerOf(domain, member));
  const commands = Object.values(kind.commands).filter(
    (command) => command.list === list && !command.internal,
  );
  const possible = commands.map((command) => ({ command, mayBy: possibleOf(domain, source, command) }));
  const idColumn = list.id.column;
  const uploads = uploadFieldsOf(kind).filter((upload) => upload.list === list);
  const columnOf = (name: string): string => members.find((member) => member.name === name)?.column ?? name;
  const itemIn = (row: Row): Row =>
    Object.fromEntries(
      members.map(({ name, column }) => {
        const value = row[column];
        return [name, value instanceof Date ? isoText(value) : value];
      }),
    );
  const offered = new Map(
    commands.map((command) => {
      const [changes, condition] = [
        changesOf(kind, command, columnOf),
        conditionOnItem(domain, kind, command),
      ];
      return [command, { changes, holds: condition === always ? undefined : holdsOf(condition) }] as const;
    }),
  );
  return (caller, above) => {
    const [userId, own] = [userIdOf(caller), ownOf(caller)];
    const isOffered = (command: CommandInfo, row: Row): boolean => {
      const { changes = () => true, holds } = offered.get(command) ?? {};
      return (
        changes(row, above.resource.fields ?? {}) &&
        (holds === undefined || holds(itemIn(row), userId, () => undefined, own))
      );
    };
    const readers = shown.map((readFor) => readFor(caller));
    const path = `/${kind.path}/${above.id}/${kebab(list.name)}`;
    const now = possible.flatMap(({ command, mayBy }) => (mayBy(caller)?.(above.resource) ? [command] : []));
    const addition = now.find((command) => command.kind === 'addItem' && command.verb === undefined);
    return {
      create: addition && above.hasRoom ? { href: path, method: 'POST' } : undefined,
      represent(row) {
        const self = `${path}/${encodeURIComponent(String(row[idColumn]))}`;
        const item: Record<string, unknown> = list.key === undefined ? { id: row[idColumn] } : {};
        const links: Record<string, Link> = {
          self: { href: self },
          [kebab(kind.name)]: { href: `/${kind.path}/${above.id}` },
        };
        note?.(above.id, noted);
        for (const read of readers) read(row, item, links);
        item.createdAt = isoText(row.created_at as Date);
        item.updatedAt = isoText(row.updated_at as Date);
        for (const command of now) if (isOffered(command, row)) Object.assign(links, linkOf(command, self));
        for (const { name, command } of uploads)
          if (now.includes(command) && isOffered(command, row))
            Object.assign(links, fileLinks(name, list.fields[name] ?? {}, [self, row[columnOf(name)]]));
        return Object.assign(item, { _links: links });
      },
    };
  };
};

/**
 * Whether a command could change something: one without a form, only if the item or the aggregate lacks a
 * value that it sets. A missing link must not reveal the current value of a guarded field.
 */
const changesOf = (
  kind: Kind,
  { itemForm, events: [event, ...others] }: CommandInfo,
  columnOf: (name: string) => string,
): ((row: Row, above: State) => boolean) => {
  const set = constantsIn(event?.item?.sets).map(([name, value]) => [columnOf(name), value] as const);
  const also = constantsIn(event?.sets);
  const isAny =
    itemForm.length + others.length + (event?.item?.computes.length ?? 0) > 0 ||
    set.length === 0 ||
    also.some(([name]) => guardOfField(kind, name) !== undefined);
  if (isAny) return () => true;
  return (row, above) =>
    set.some(([column, value]) => row[column] !== value) ||
    also.some(([name, value]) => !areEqual(value, above[name]));
};

const linkOf = ({ kind, name, verb }: CommandInfo, self: string): Readonly<Record<string, Link>> => {
  if (kind === 'addItem') return {};
  if (verb !== undefined) return { [kebab(name)]: { href: `${self}/${kebab(verb)}`, method: 'POST' } };
  return kind === 'changeItem'
    ? { edit: { href: self, method: 'PATCH' } }
    : { [kebab(name)]: { href: self, method: 'DELETE' } };
};

type ReadField = (row: Row, item: Record<string, unknown>, links: Record<string, Link>) => void;

/** How a field of an item or of a row of a view is shown to a caller. */
export const readerOf = (domain: Domain, member: Member): ((caller: Caller) => ReadField) => {
  const { name, def, column } = member;
  const [reference] = joinedReferences(domain, { members: [member] });
  if (reference === undefined) {
    const erased = def.personal?.erased;
    return () => (row, item) => {
      const value = row[column];
      item[name] = value instanceof Date ? isoText(value) : (value ?? erased ?? null);
    };
  }
  const { kind: target, label } = reference;
  const erased = target.fields[target.label ?? '']?.personal?.erased ?? null;
  const isSeenBy = targetSeenBy(reference);
  const [note, noted] = [label === undefined ? undefined : noteOf(target), [target.label ?? '']];
  return (caller) => {
    const isSeen = isSeenBy(caller);
    return (row, item, links) => {
      const id = row[column];
      const shown = isSeen(row);
      if (label === undefined) item[wire(name, def)] = id;
      else
        item[name] =
          id === null ? null : { id, [target.label ?? '']: shown ? (row[label.joined] ?? erased) : null };
      if (shown && id !== null) note?.(id as number, noted);
      if (shown) links[kebab(name)] = { href: `/${target.path}/${id}` };
    };
  };
};
