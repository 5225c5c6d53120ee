import { spaced, wire } from '#kernel/base/names.ts';
import { parsePlainly } from '#kernel/base/plain-issues.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { commandSchema } from '#kernel/decide/forms.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import type { Command } from '#shared/commands/command.ts';
import { commandOf } from './event-commands.ts';
import { faultIn, type ImportLine } from './line.ts';
import { FaultOfLine, formNamed, idNamed, itemNamed, type Keys } from './resolve-names.ts';

export type Named = { readonly kind: Kind; readonly command: CommandInfo };

/** The command of a line; throws a sentence if the domain has none of this name. */
export const commandNamed = ({ kinds }: Domain, { command: sent, event }: ImportLine): Named => {
  const [of = '', name = ''] = (sent ?? event ?? '').split('.');
  const kind = kinds[of];
  if (kind === undefined) throw new FaultOfLine(`the domain has no aggregate ${of}`);
  const command = kind.commands[sent === undefined ? commandOf(name) : name];
  if (command !== undefined) return { kind, command };
  const [what, all] =
    sent === undefined
      ? ['event', Object.values(kind.events).filter(({ hidden }) => !hidden)]
      : ['command', Object.values(kind.commands)];
  const names = all.map((each) => each.name).filter((each) => !each.includes(' '));
  throw new FaultOfLine(`${of} has no ${what} ${name}: use one of ${names.join(', ')}`);
};

/** The command as a client would send it, with ids for the names of the line. */
export const commandIn = (keys: Keys, line: ImportLine, { kind, command }: Named): Command => {
  demandPlaces(line, { kind, command });
  demandNoFile(line, { kind, command });
  const { list } = command;
  const schema = commandSchema(kind, command);
  const { data, error } = parsePlainly(schema, {
    ...formNamed(keys, kind, command, line.form),
    type: typeOfCommand(kind, command.name),
    ...(line.of !== undefined && { [`${kind.name}Id`]: idNamed(keys, kind.name, line.of) }),
    ...(line.item !== undefined &&
      list !== undefined && { [list.id.name]: itemNamed(keys, kind, list, line.item) }),
  });
  if (data !== undefined) return data as unknown as Command;
  const fields = Object.keys(schema.shape).filter((name) => !['type', `${kind.name}Id`].includes(name));
  throw new FaultOfLine(faultIn(error, 'the form', fields));
};

/** Only an upload stores a file: a form can name one elsewhere, or none. */
const demandNoFile = ({ form }: ImportLine, { kind, command: { list } }: Named): void => {
  for (const [name, { kind: type, mayBeElsewhere }] of Object.entries(list?.fields ?? kind.fields)) {
    const given = form[name];
    if (type !== 'upload' || typeof given !== 'string') continue;
    if (mayBeElsewhere !== true || !/^https?:/.test(given))
      throw new FaultOfLine(
        `${name}: files are not part of an import: leave the field out, and upload the file afterwards`,
      );
  }
};

/** Refuses an aggregate or an item that the command does not have, and a missing one. */
const demandPlaces = (line: ImportLine, { kind, command }: Named): void => {
  const sent = line.command ?? line.event;
  const { list, kind: does } = command;
  const isCreation = does === 'create';
  if (isCreation && line.of !== undefined)
    throw new FaultOfLine(`of: ${sent} creates a ${spaced(kind.name)}, so it has none`);
  if (!isCreation && line.of === undefined) throw new FaultOfLine(`of: name the ${spaced(kind.name)}`);
  if (line.item !== undefined && list === undefined)
    throw new FaultOfLine(`item: ${sent} concerns no item of a list, so it has none`);
  const isAdded = does === 'addItem';
  if (line.item !== undefined && isAdded && list?.key === undefined)
    throw new FaultOfLine(`item: ${sent} adds a ${spaced(list?.one ?? 'item')}, so it has none`);
  if (line.item === undefined && list !== undefined && !isAdded)
    throw new FaultOfLine(`item: name the ${spaced(list.one)}`);
  const { owner } = kind;
  const ownerKey = owner === undefined ? undefined : wire(owner, kind.fields[owner]);
  if (isCreation && ownerKey !== undefined && line.actor === undefined && line.form[ownerKey] === undefined)
    throw new FaultOfLine(`${ownerKey}: name the owner, or an actor, who is the owner then`);
};
