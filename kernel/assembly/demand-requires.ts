import type { CommandInfo, Kind } from '../registry/registry.ts';
import { isNeverGiven } from './demand-supported.ts';
import { eachCommand, eachKind, type Sentences } from './refusals.ts';

/** Refuses `requires` that would change nothing, or that no form could fulfil. */
export const demandRequires = eachKind(eachCommand(wrongRequires));

function* wrongRequires({ requires, list, form, kind }: CommandInfo, { name, fields }: Kind): Sentences {
  // Commands of items have no `requires`; another message says so.
  for (const field of list === undefined ? requires : []) {
    const def = fields[field];
    if (!form.includes(field))
      yield `requires ${field}, which its form does not have: add the field to its event, or remove it from \`requires\`.`;
    if (!def?.optional)
      yield `requires ${field}, which is not optional(), so that every form has it: remove it from \`requires\`.`;
    if (def && kind === 'create' && isNeverGiven({ ...def, optional: false }))
      yield `requires ${field}, but no new ${name} can have a file yet: remove it from \`requires\`, or require it in a later action.`;
    if (kind === 'edit')
      yield `requires ${field}, but an edit has only the fields that it changes: remove \`requires\`, or let its event also set a field, which makes it an action.`;
  }
}
