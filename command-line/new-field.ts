import { planField } from '../develop/declaration/plan.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { FIELD_HELP, fieldGiven } from './field-given.ts';
import { addChecked, listFileOf } from './new-aggregate.ts';

/** Changes the file of an aggregate, of which everything else stays as it is. */
export const newField: Command = {
  name: 'new field',
  summary: `Adds a field to an aggregate of a project: to its fields, and to the events with its content. The field is ${FIELD_HELP}. Recorded events lack it, so it is optional or has a default (initial=…).`,
  positionals: ['<aggregate>', '[field]'],
  options: { yes: { type: 'boolean', description: 'Asks nothing.' } },
  examples: ['new field invoice dueOn:date:optional', 'new field invoice urgent:flag:initial=false'],
  async run({ positionals: [kind = '', given], flags }, terminal) {
    const { ask } = terminal;
    const isAsked = ask !== undefined && !flags.has('yes');
    const text =
      given ?? (isAsked ? await ask('The field, as name:type:options?', 'note:line:optional') : '');
    if (text === '') throw new UsageError('[field] is missing, such as dueOn:date:optional');
    const file = listFileOf(terminal);
    await addChecked(file, await planField(file, kind, fieldGiven(text)), { terminal, isAsked });
  },
};
