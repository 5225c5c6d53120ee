import { always } from '#kernel/conditions/expression.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { guardOfField, partOfItems, partRightsOf } from '#kernel/conditions/parts-of.ts';
import { itemsOf, oneOfList } from '#kernel/decide/items.ts';
import { wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import type { JsonPatch } from '#shared/commands/json-patch.ts';
import { notFound, Rejection } from '#shared/rejection.ts';

/** What a command writes of parts that fewer may read than the rest. */
type PartsWritten = {
  /**
   * Refuses who would change what they may not read: whether it changed would tell them what it was. An item
   * that they may not read is not there for them; answers whether it is to be taken for one that was removed.
   */
  isGone(form: Row, fields: Row, mayRead: (right: string) => boolean): boolean;
};

export const partsWritten = (kind: Kind, command: CommandInfo): PartsWritten => {
  const { list } = command;
  if (list !== undefined) return itemsWritten(kind, command, list);
  const guarded: Guarded = command.form.flatMap((name) => {
    const right = guardOfField(kind, name);
    return right === undefined ? [] : [[wire(name, kind.fields[name]), right] as const];
  });
  const namedBy = namedByPatches(kind, guarded);
  return {
    isGone(form, _fields, mayRead) {
      const patch = form.patch as JsonPatch | undefined;
      const named = patch === undefined ? guarded.filter(([key]) => form[key] !== undefined) : namedBy(patch);
      if (named.some(([, right]) => !mayRead(right))) throw new Rejection('forbidden');
      return false;
    },
  };
};

/** By its key, as it is written or as it is read. */
type Guarded = readonly (readonly [key: string, right: string])[];

/**
 * A JSON patch names a field also where it changes nothing, and what no form has: whether that may stay would
 * tell what it is. The whole item stands for what can be changed alone, because of what cannot be it may hold
 * anything.
 */
const namedByPatches = (kind: Kind, written: Guarded): ((patch: JsonPatch) => Guarded) => {
  const all = partRightsOf(kind).flatMap(({ name: right, fields, items }) => {
    const lists = items.flatMap(({ list, of }) => (of === always ? [list.name] : []));
    return [...fields, ...lists].flatMap((name) =>
      [...new Set([name, wire(name, kind.fields[name])])].map((key) => [key, right] as const),
    );
  });
  return (patch) => {
    const pointers = patch.flatMap((operation) => [
      operation.path,
      'from' in operation ? operation.from : operation.path,
    ]);
    const isNamed = ([key]: Guarded[number]): boolean =>
      pointers.some((each) => each === `/${key}` || each.startsWith(`/${key}/`));
    return [...(pointers.includes('') ? written : []), ...all.filter(isNamed)];
  };
};

const itemsWritten = (
  kind: Kind,
  command: CommandInfo,
  list: NonNullable<CommandInfo['list']>,
): PartsWritten => {
  const part = partOfItems(kind, list);
  if (part === undefined) return { isGone: () => false };
  const holds = holdsOf(part.of);
  const isIn = (item: Row): boolean => holds(item, null, () => undefined);
  return {
    isGone(form, fields, mayRead) {
      if (mayRead(part.name)) return false;
      // Of a list that is hidden as a whole, no answer may depend on what is in it.
      if (part.of === always) throw new Rejection('forbidden');
      if (command.kind === 'addItem') {
        if (isIn(form)) throw new Rejection('forbidden');
        return false;
      }
      const hidden = itemsOf(fields, list).filter(isIn);
      const isHidden = (id: unknown): boolean => hidden.some((item) => item.id === id);
      const isMeant = isHidden(form[list.id.name]);
      if (isMeant && command.kind === 'removeItem' && list.key === undefined) return true;
      if (isMeant || (command.kind === 'moveItem' && isHidden(form.before)))
        throw new Rejection(notFound(oneOfList(kind, list)));
      return false;
    },
  };
};
