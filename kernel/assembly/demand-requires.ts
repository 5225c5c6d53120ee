import { StartRefused } from '../base/start-refused.ts';
import type { CommandInfo, Kind } from '../registry/registry.ts';
import { isNeverGiven } from './demand-supported.ts';

/** Refuses `requires` that would change nothing, or that no form could fulfil. */
export const demandRequires = (kinds: readonly Kind[]): void => {
  for (const kind of kinds)
    for (const command of Object.values(kind.commands)) {
      // Commands of items have no `requires`; another message says so.
      const { name, requires, list } = command;
      const [wrong] = list === undefined ? requires.flatMap((field) => wrongIn(kind, command, field)) : [];
      if (wrong !== undefined) throw new StartRefused(`${kind.name}: the command ${name} requires ${wrong}`);
    }
};

const wrongIn = ({ name, fields }: Kind, command: CommandInfo, field: string): readonly string[] => {
  if (!command.form.includes(field))
    return [
      `${field}, which its form does not have: add the field to its event, or remove it from \`requires\`.`,
    ];
  if (!fields[field]?.optional)
    return [`${field}, which is not optional(), so that every form has it: remove it from \`requires\`.`];
  if (command.kind === 'create' && isNeverGiven({ ...fields[field], optional: false }))
    return [
      `${field}, but no new ${name} can have a file yet: remove it from \`requires\`, or require it in a later action.`,
    ];
  return command.kind === 'edit'
    ? [
        `${field}, but an edit has only the fields that it changes: remove \`requires\`, or let its event also set a field, which makes it an action.`,
      ]
    : [];
};
