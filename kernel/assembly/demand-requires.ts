import { StartRefused } from '../base/start-refused.ts';
import type { CommandInfo, Kind } from '../registry/registry.ts';

/** Refuses `requires` that would change nothing. */
export const demandRequires = (kinds: readonly Kind[]): void => {
  for (const kind of kinds)
    for (const command of Object.values(kind.commands)) {
      // Commands of items have no `requires`; another message says so.
      const { name, requires, list } = command;
      const [wrong] = list === undefined ? requires.flatMap((field) => wrongIn(kind, command, field)) : [];
      if (wrong !== undefined) throw new StartRefused(`${kind.name}: the command ${name} requires ${wrong}`);
    }
};

const wrongIn = ({ fields }: Kind, command: CommandInfo, field: string): readonly string[] => {
  if (!command.form.includes(field))
    return [
      `${field}, which its form does not have: add the field to its event, or remove it from \`requires\`.`,
    ];
  if (!fields[field]?.optional)
    return [`${field}, which is not optional(), so that every form has it: remove it from \`requires\`.`];
  return command.kind === 'edit'
    ? [
        `${field}, but an edit has only the fields that it changes: remove \`requires\`, or let its event also set a field, which makes it an action.`,
      ]
    : [];
};
