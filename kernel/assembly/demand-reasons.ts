import { wire } from '../base/names.ts';
import { REASON } from '../base/reason.ts';
import type { CommandInfo, Kind } from '../registry/registry.ts';
import { eachCommand, eachKind, type Sentences } from './refusals.ts';

/** Refuses a reason that nobody could give, or that could be confused with a field. */
export const demandReasons = eachKind(eachCommand(wrongReason));

function* wrongReason({ reason, internal, list, form, itemForm }: CommandInfo, kind: Kind): Sentences {
  if (reason === undefined) return;
  if (reason !== 'required' && reason !== 'optional')
    yield `has the reason \`${String(reason)}\`: use 'required' or 'optional'.`;
  if (internal)
    yield 'has a `reason`, but only timers and reactions send it, which have none: remove `reason`.';
  const names = [
    ...form.map((name) => wire(name, kind.fields[name])),
    ...itemForm.map((name) => wire(name, list?.fields[name])),
  ];
  if (names.includes(REASON))
    yield 'has a `reason`, and its form has a field with that name: require this field instead, or give it another name.';
}
