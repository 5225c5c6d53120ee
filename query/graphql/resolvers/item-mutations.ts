import * as z from 'zod';
import { parseInput } from '#edge/http/parse-input.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { formShape } from '#kernel/decide/forms.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { mutatingCommands, mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { CommandInfo, Domain } from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import { findItem } from '../../lists/item-rows.ts';
import type { ItemSource } from '../../rows/source.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { itemArgument } from '../rules/names.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context, Resolver } from './context.ts';
import { isWholeTo } from './items.ts';
import { changing, idOf, readChanged, readMembers, sendMutation, type ToCommand } from './mutations.ts';
import { sendFile, uploadCommand } from './uploads.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Every public command to items of lists, and uploads to them. */
export const itemMutations = (domain: Domain): Readonly<Record<string, Resolver>> =>
  Object.fromEntries(
    sourcesOf(domain).all.flatMap(({ kind, items }) => [
      ...mutatingCommands(kind).flatMap((command) => {
        const list = items.find((each) => each.list === command.list);
        return list === undefined ? [] : [[mutationName(kind, command), resolverOf(list, command)] as const];
      }),
      ...items.flatMap(uploadsOf),
    ]),
  );

/** Returns the item after the command, or the aggregate if the item is removed. */
const resolverOf = (items: ItemSource, command: CommandInfo): Resolver => {
  const { kind, list } = items;
  const toCommand = toCommandOf(items, command);
  if (command.kind === 'removeItem') return changing(kind.type, toCommand);
  return async (_mutation, args, context, key) => {
    const { id: of, itemId } = await sendMutation(toCommand, { args, context, key });
    return readItem(items, context, {
      of,
      id: itemId ?? ((toCommand(args) as Arguments)[list.id.name] as number | string),
    });
  };
};

const readItem = async (
  items: ItemSource,
  context: Context,
  { of, id }: { readonly of: number; readonly id: number | string },
) => {
  const above = await readChanged(context, items.kind.type, of);
  // A repeated command may concern an item that the sender can no longer read.
  const row = await findItem(context.pool, items, {
    of,
    id,
    isWhole: await isWholeTo(items, above, context),
  });
  if (row === undefined) throw new Rejection(items.absent);
  return row;
};

const uploadsOf = (items: ItemSource): readonly (readonly [string, Resolver])[] => {
  const { kind, list } = items;
  const argument = itemArgument(items);
  return uploadFieldsOf(kind)
    .filter((upload) => upload.list === list)
    .flatMap((upload) => {
      const { set, remove } = uploadMutations(kind, upload);
      const of = (args: Arguments) => ({
        kind,
        upload,
        id: idOf(kind.name, args.id),
        itemId: idOfItem(items, args[argument]),
      });
      const setting: Resolver = async (_mutation, args, context, field) => {
        const uploading = of(args);
        await sendFile(context, {
          ...uploading,
          file: args.file as Upload,
          ifVersion: args.ifVersion,
          reason: args.reason,
          field,
        });
        return readItem(items, context, { of: uploading.id, id: uploading.itemId });
      };
      const removing: Resolver = async (_mutation, args, context, key) => {
        const removed = of(args);
        await sendMutation(() => ({ ...uploadCommand(removed), [upload.name]: null }), {
          args,
          context,
          key,
        });
        return readItem(items, context, { of: removed.id, id: removed.itemId });
      };
      return [[set, setting] as const, ...(remove === undefined ? [] : [[remove, removing] as const])];
    });
};

const toCommandOf = (items: ItemSource, command: CommandInfo): ToCommand => {
  const { kind, list } = items;
  const form = z.strictObject(formShape(kind, command));
  const read = formReader(items, command);
  const argument = itemArgument(items);
  return (args) => ({
    type: typeOfCommand(kind, command.name),
    [`${kind.name}Id`]: idOf(kind.name, args.id),
    ...(command.kind !== 'addItem' && { [list.id.name]: idOfItem(items, args[argument]) }),
    ...parseInput(form, read(args)),
  });
};

/** A value that is no valid key identifies no item. */
const idOfItem = ({ list, absent }: ItemSource, given: unknown): number | string => {
  const id = itemIdIn(list, String(given));
  if (id === undefined) throw new Rejection(absent);
  return id;
};

const formReader = (items: ItemSource, { kind, itemForm }: CommandInfo): ((args: Arguments) => Arguments) => {
  const { members } = items;
  switch (kind) {
    case 'addItem':
      return ({ input = {} }) =>
        readMembers(members, input as Arguments, ({ def }) => !def.optional && def.initial !== undefined);
    case 'actOnItem': {
      const sent = members.filter(({ name }) => itemForm.includes(name));
      return (args) => readMembers(sent, args, () => false);
    }
    case 'changeItem':
      return ({ changes }) => readMembers(members, changes as Arguments, () => false);
    case 'moveItem':
      return ({ before }) => ({ before: (before ?? null) === null ? null : idOfItem(items, before) });
    default:
      return () => ({});
  }
};
