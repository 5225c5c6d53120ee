import { wire } from '../base/names.ts';
import { MEANING_CHARACTERS_MAX, SIGNATURE } from '../base/signature.ts';
import { isUser } from '../base/users.ts';
import { demandedLine } from '../base/values.ts';
import type { CommandInfo, Kind } from '../registry/registry.ts';
import { eachCommand, eachKind, type Sentences } from './refusals.ts';

/** Refuses commands that nobody could sign, or that could be sent without a signature. */
export const demandSigned = eachKind(eachCommand(wrongSigned));

function* wrongSigned(command: CommandInfo, kind: Kind): Sentences {
  const { name, signed, internal, list, form, itemForm } = command;
  if (signed === undefined) return;
  if (!demandedLine(MEANING_CHARACTERS_MAX).safeParse(signed).success)
    yield `has \`signed\` without a meaning: write \`signed: { meaning: 'approval' }\`, in one line of at most ${MEANING_CHARACTERS_MAX} characters.`;
  if (internal) yield 'has `signed` and is internal, but only persons can sign: remove one of them.';
  if (isUser(kind))
    yield 'has `signed`, but users change themselves on the pages of their account: let a command of another aggregate be signed.';
  const defs = list === undefined ? kind.fields : list.fields;
  const given = list === undefined ? form : itemForm;
  const upload = given.find((each) => defs[each]?.kind === 'upload');
  if (upload !== undefined)
    yield `has \`signed\`, but its form has the file ${upload}: let a command of its own change the file, before it is signed.`;
  if (given.some((each) => wire(each, defs[each]) === SIGNATURE))
    yield 'has `signed`, and its form has a field named signature: give the field another name.';
  yield* sentOtherwise(kind, name);
}

/** Refuses it where no person would send it. */
function* sentOtherwise({ commands, reactions, timers, schedules }: Kind, name: string): Sentences {
  const beside = Object.values(commands).find(({ next }) => next.includes(name));
  if (beside !== undefined)
    yield `has \`signed\`, but ${beside.name} can run it too: remove it from \`next\`, so that it is signed by itself.`;
  const runs = [
    ...Object.values(reactions).flatMap((events) =>
      Object.values(events).map(({ run }) => [run, 'reaction']),
    ),
    ...Object.values(timers).map(({ run }) => [run, 'timer']),
    ...Object.values(schedules).map(({ run }) => [run, 'schedule']),
  ];
  const run = runs.find(([each]) => each === name);
  if (run !== undefined)
    yield `has \`signed\`, but a ${run[1]} runs it, which cannot sign: let it run an internal command with the same event.`;
}
