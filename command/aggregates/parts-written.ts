import type { JsonPatch } from '#kernel/base/json-patch.ts';
import { wire } from '#kernel/base/names.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { always } from '#kernel/conditions/expression.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { guardOfField, partOfItems, partRightsOf, settledBy } from '#kernel/conditions/parts-of.ts';
import { itemsOf, oneOfList } from '#kernel/decide/items.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';

/** Checks changes of guarded parts by a command. */
type PartsWritten = {
  /**
   * Refuses changes of parts that the caller cannot read, because success or failure would reveal their
   * content. An unreadable item is reported as absent; returns true if it must look like a removed one.
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

/** Guarded fields by key, in the forms of writes and of reads. */
type Guarded = readonly (readonly [key: string, right: string])[];

/**
 * A JSON patch may name a field that it does not change, or one that is in no form; accepting it would reveal
 * the value. A patch of the whole item covers changeable fields only, because its other content is ignored.
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
      // If the whole list is hidden, no response may depend on its content.
      if (part.of === always) throw new Rejection('forbidden');
      if (command.kind === 'addItem') {
        const additions = command.events.filter(({ effect }) => effect === 'adds');
        if (additions.some((event) => isIn({ ...form, ...settledBy(list, event) })))
          throw new Rejection('forbidden');
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
