import { personsInForm } from '../decide/persons-in-form.ts';
import { agentRequestsOf } from '../registry/confirms.ts';
import type { CommandInfo, Domain, Kind } from '../registry/registry.ts';
import { eachCommand, eachKind, type Sentences } from './refusals.ts';

/** Refuses commands that cannot wait for a person, each with what to write instead. */
export const demandConfirm = eachKind(eachCommand(wrongConfirm));

function* wrongConfirm(command: CommandInfo, kind: Kind, domain: Domain): Sentences {
  const { confirm, internal, list, form, itemForm } = command;
  if (confirm === undefined) return;
  if (agentRequestsOf(domain) === kind) return;
  if (internal) yield 'has `confirm` and is internal, but agents cannot send it: remove one of them.';
  const defs = list === undefined ? kind.fields : list.fields;
  const upload = (list === undefined ? form : itemForm).find((name) => defs[name]?.kind === 'upload');
  if (upload !== undefined)
    yield `has \`confirm\`, but its form has the file ${upload}, which a request cannot keep: let a command of its own change the file.`;
  const persons = personsInForm(kind, command);
  if (persons.length > 1)
    yield `has \`confirm\`, but its form has personal data of ${persons.join(' and ')}: a request can keep that of one person.`;
}
