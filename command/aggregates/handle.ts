import { operationOf } from '#kernel/conditions/rights.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { editOf, patchType } from '#kernel/decide/forms.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { admit } from '#shared/policy.ts';
import type { AnyHandler } from '../handler.ts';
import { changing, patching } from './change.ts';
import { creating } from './create.ts';
import type { Handle, Parts } from './parts.ts';
import { createSee } from './seen.ts';
import { streamOf } from './target.ts';

/** The handlers of all commands to the aggregates of a domain, users among them. */
export const aggregateHandlers = (dependencies: Omit<Parts, 'see'>): Readonly<Record<string, AnyHandler>> => {
  const { domain, states } = dependencies;
  const parts = { ...dependencies, see: createSee(domain, states) };
  return Object.fromEntries(Object.values(domain.kinds).flatMap((kind) => handlersOf(parts, kind)));
};

/** Reads back what an item that was added is told apart by, so that a repetition is answered as the first time was. */
const revealing = ({ log }: Parts, kind: Kind, command: CommandInfo): Pick<AnyHandler, 'reveal'> => {
  const { list } = command;
  // A command says the key itself, also of an item that was there already.
  if (list === undefined || list.key !== undefined || command.kind !== 'addItem') return {};
  const added = new Set(command.events.map(({ type }) => type));
  return {
    async reveal({ id, version }) {
      for await (const [event] of log.read(streamOf(kind, id), version))
        return event && added.has(event.type) ? { itemId: event.data[list.id.name] as number } : {};
      return {};
    },
  };
};

const handlersOf = (parts: Parts, kind: Kind): readonly (readonly [type: string, handler: AnyHandler])[] => {
  const handlerOf = (command: CommandInfo, handle: Handle): AnyHandler => ({
    admit: (caller) => admit(caller, operationOf(kind, command.name)),
    handle: handle as AnyHandler['handle'],
  });
  const commands = Object.values(kind.commands).filter(({ internal }) => !internal);
  const edit = editOf(kind);
  return [
    ...commands.map((command) => {
      const handle = (command.kind === 'create' ? creating : changing)(parts, kind, command);
      return [typeOfCommand(kind, command.name), { ...handlerOf(command, handle), ...revealing(parts, kind, command) }] as const;
    }),
    ...(edit === undefined ? [] : [[patchType(kind), handlerOf(edit, patching(parts, kind, edit))] as const]),
  ];
};
