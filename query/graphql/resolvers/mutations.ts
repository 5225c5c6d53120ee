import * as z from 'zod';
import { parseInput } from '#edge/http/parse-input.ts';
import { throwFormErrors } from '#edge/rest/writes/write-routes.ts';
import { wire } from '#kernel/base/names.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { formShape } from '#kernel/decide/forms.ts';
import { uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { mutatingCommands, mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { CommandInfo, Domain } from '#kernel/registry/registry.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import type { Member, Source } from '../../rows/source.ts';
import { sourcesOf } from '../../rows/sources.ts';
import { idArgument, memberName } from '../rules/names.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context, Resolver } from './context.ts';
import { readById } from './reads.ts';
import { type Row, sourceOfType } from './rows.ts';
import { sendFile, uploadCommand } from './uploads.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Makes the command of a mutation; inputs have passed the schema of GraphQL. */
export type ToCommand = (args: Arguments) => Command;

/** Sends the command, and returns the aggregate after it. */
export const changing =
  (type: string, toCommand: ToCommand): Resolver =>
  async (_mutation, args, context, key): Promise<Row> =>
    readChanged(context, type, (await sendMutation(toCommand, { args, context, key })).id);

export const readChanged = async (context: Context, type: string, id: number): Promise<Row> => {
  const row = await readById(context, type, id);
  if (row) return row;
  throw new Rejection(notFound(sourceOfType(context.domain, type).kind.name));
};

export const deleting =
  (toCommand: ToCommand): Resolver =>
  async (_mutation, args, context, key) =>
    String((await sendMutation(toCommand, { args, context, key })).id);

export type Sent = { readonly args: Arguments; readonly context: Context; readonly key: string };

export const sendMutation = (toCommand: ToCommand, { args, context, key }: Sent): Promise<CommandResult> =>
  context
    .send(toCommand(args), {
      field: key,
      ifVersion: args.ifVersion,
      reason: args.reason,
      signature: args.signature,
    })
    .catch(throwFormErrors);

/** An invalid id matches no aggregate. */
export const idOf = (kind: string, given: unknown): number => {
  const id = pathId(String(given));
  if (id === undefined) throw new Rejection(notFound(kind));
  return id;
};

/** Every public command to aggregates of the domain, and uploads to them. */
export const mutationOf = (domain: Domain): Readonly<Record<string, Resolver>> =>
  Object.fromEntries(
    sourcesOf(domain).all.flatMap((source) => [
      ...mutatingCommands(source.kind).flatMap((command) =>
        command.list ? [] : [[mutationName(source.kind, command), resolverOf(source, command)] as const],
      ),
      ...uploadsOf(source),
    ]),
  );

const resolverOf = (source: Source, command: CommandInfo): Resolver =>
  command.kind === 'end'
    ? deleting(toCommandOf(source, command))
    : changing(source.kind.type, toCommandOf(source, command));

const toCommandOf = (source: Source, command: CommandInfo): ToCommand => {
  const { kind, parent } = source;
  const type = typeOfCommand(kind, command.name);
  const form = z.strictObject(formShape(kind, command));
  const read = formReader(source, command);
  if (command.kind !== 'create')
    return (args) => ({
      type,
      [`${kind.name}Id`]: idOf(kind.name, args.id),
      ...parseInput(form, read((args.changes ?? args) as Arguments)),
    });
  return (args) => ({
    type,
    ...(parent?.target && {
      [wire(parent.name, parent.def)]: idOf(parent.target.name, args[idArgument(parent)]),
    }),
    ...parseInput(form, read((args.input ?? {}) as Arguments)),
  });
};

/**
 * Translates an input to the form of a command: references become ids. A null in a field that may only be
 * absent is dropped.
 */
const formReader = ({ kind, members, owner }: Source, { kind: what, form, next }: CommandInfo) => {
  const isCreation = what === 'create';
  const names = new Set([...form, ...(isCreation && owner ? [owner.name] : [])]);
  const given = members.filter(({ name }) => names.has(name));
  const mayBeAbsent = ({ name, def }: Member): boolean =>
    name === kind.owner || (!def.optional && def.initial !== undefined);
  return (input: Arguments): Arguments => ({
    ...readMembers(given, input, (member) => isCreation && mayBeAbsent(member)),
    ...(isCreation &&
      Object.fromEntries(next.flatMap((each) => (each in input ? [[each, input[each]]] : [])))),
  });
};

/** The fields of an input, with the names of the command. */
export const readMembers = (
  members: readonly Member[],
  input: Arguments,
  mayBeAbsent: (member: Member) => boolean,
): Arguments =>
  Object.fromEntries(
    members.flatMap((member) => {
      const { name, def, target } = member;
      const value = input[memberName(member)];
      if (value === undefined || (value === null && mayBeAbsent(member))) return [];
      return [[wire(name, def), target && value !== null ? idOf(target.name, value) : value]];
    }),
  );

const uploadsOf = ({ kind }: Source): readonly (readonly [string, Resolver])[] =>
  uploadFieldsOf(kind)
    .filter(({ list }) => list === undefined)
    .flatMap((upload) => {
      const { set, remove } = uploadMutations(kind, upload);
      const of = (id: unknown) => ({ kind, upload, id: idOf(kind.name, id), itemId: undefined });
      const setting: Resolver = async (_mutation, { id, file, ifVersion, reason }, context, field) =>
        readChanged(
          context,
          kind.type,
          await sendFile(context, { ...of(id), file: file as Upload, ifVersion, reason, field }),
        );
      const removing = changing(kind.type, ({ id }) => ({ ...uploadCommand(of(id)), [upload.name]: null }));
      return [[set, setting] as const, ...(remove === undefined ? [] : [[remove, removing] as const])];
    });
