import { holdsOf } from '#kernel/conditions/holds.ts';
import { guardOfField, partOfItems } from '#kernel/conditions/parts-of.ts';
import { itemsOf, oneOfList } from '#kernel/decide/items.ts';
import { wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import type { JsonPatch } from '#shared/commands/json-patch.ts';
import { notFound, Rejection } from '#shared/rejection.ts';

/** What a command writes of parts that fewer may read than the rest. */
type PartsWritten = {
  /**
   * Refuses who would change what they may not read: whether it changed would tell them what it was. An item that they may not read is
   * not there for them; answers whether it is to be taken for one that was removed.
   */
  isGone(form: Row, fields: Row, mayRead: (right: string) => boolean): boolean;
};

export const partsWritten = (kind: Kind, command: CommandInfo): PartsWritten => {
  const { list } = command;
  if (list !== undefined) return itemsWritten(kind, command, list);
  const guarded = command.form.flatMap((name) => {
    const right = guardOfField(kind, name);
    return right === undefined ? [] : [[wire(name, kind.fields[name]), right] as const];
  });
  return {
    isGone(form, _fields, mayRead) {
      for (const [key, right] of guarded) if (isNamed(form, key) && !mayRead(right)) throw new Rejection('forbidden');
      return false;
    },
  };
};

/** By a form, or by a JSON patch, which names a field also where it changes nothing. */
const isNamed = ({ patch, ...form }: Row, key: string): boolean => {
  if (patch === undefined) return form[key] !== undefined;
  const pointers = (patch as JsonPatch).flatMap((operation) => [operation.path, 'from' in operation ? operation.from : operation.path]);
  return pointers.some((pointer) => pointer === '' || pointer === `/${key}` || pointer.startsWith(`/${key}/`));
};

const itemsWritten = (kind: Kind, command: CommandInfo, list: NonNullable<CommandInfo['list']>): PartsWritten => {
  const part = partOfItems(kind, list);
  if (part === undefined) return { isGone: () => false };
  const holds = holdsOf(part.of);
  const isIn = (item: Row): boolean => holds(item, null, () => undefined);
  return {
    isGone(form, fields, mayRead) {
      if (mayRead(part.name)) return false;
      if (command.kind === 'addItem') {
        if (isIn(form)) throw new Rejection('forbidden');
        return false;
      }
      const hidden = itemsOf(fields, list).filter(isIn);
      const isHidden = (id: unknown): boolean => hidden.some((item) => item.id === id);
      const isMeant = isHidden(form[list.id.name]);
      if (isMeant && command.kind === 'removeItem' && list.key === undefined) return true;
      if (isMeant || (command.kind === 'moveItem' && isHidden(form.before))) throw new Rejection(notFound(oneOfList(kind, list)));
      return false;
    },
  };
};
