import { isDeepStrictEqual } from 'node:util';
import { type Alternatives, covers } from '../meaning/alternatives.ts';
import { adds, breaks, byName, type Finding, warns } from './finding.ts';
import type { CommandRule } from './rules.ts';

const ALWAYS: Alternatives = [[]];
const KEEP = 'Keep the condition, and declare another command beside this one.';

const OPTIONAL = 'Let it be `optional` until all clients send one.';

type Commands = Readonly<Record<string, CommandRule>>;

/** Requests accepted before must still be accepted. The operations already report new and removed commands. */
export const commandChanges = (kind: string, before: Commands, after: Commands): readonly Finding[] =>
  byName(before, after).both.flatMap(([name, was, is]) => {
    const what = `command ${kind}.${name}`;
    return [
      ...conditionChanges(`${what} when`, [was.when, is.when], is.internal),
      ...conditionChanges(`${what} whenItem`, [was.whenItem, is.whenItem], is.internal),
      ...(is.needsReason && !was.needsReason
        ? [breaks(`${what} reason`, 'It now requires a reason, which clients do not send.', OPTIONAL)]
        : []),
      ...(is.signed === was.signed ? [] : [signedChange(`${what} signed`, was.signed, is.signed)]),
      ...(isDeepStrictEqual(was.emits, is.emits)
        ? []
        : [warns(`${what} emits`, `It emits ${is.emits.join(', ')}, and emitted ${was.emits.join(', ')}.`)]),
      ...(was.confirm === is.confirm ? [] : [warns(`${what} confirm`, confirmWords(is))]),
    ];
  });

const confirmWords = ({ confirm }: CommandRule): string =>
  confirm
    ? 'The call of an agent is answered with 202, and waits for a person.'
    : 'The call of an agent is executed at once, and no longer waits for a person.';

const signedChange = (what: string, was: string | undefined, is: string | undefined): Finding =>
  is === undefined
    ? warns(what, 'It is no longer signed.')
    : was === undefined
      ? breaks(
          what,
          'A person must sign it now, which clients do not let them.',
          'Declare another command that is signed, beside this one.',
        )
      : warns(what, `The signature means “${is}”, and meant “${was}”.`);

const conditionChanges = (
  what: string,
  [had = ALWAYS, has = ALWAYS]: readonly [Alternatives | undefined, Alternatives | undefined],
  isInternal = false,
): readonly Finding[] => {
  const [isWider, isNarrower] = [covers(has, had), covers(had, has)];
  if (isWider && isNarrower) return [];
  const to = `possible ${textOf(has)}; before: ${textOf(had)}.`;
  if (isWider) return [adds(what, `Wider: ${to}`)];
  const says = `${isNarrower ? 'Narrower' : 'Changed, may be narrower'}: ${to}`;
  return [
    isInternal ? warns(what, says) : breaks(what, `Requests accepted before are refused. ${says}`, KEEP),
  ];
};

type Invariants = Readonly<Record<string, Alternatives>>;

export const invariantChanges = (
  kind: string,
  before: Invariants = {},
  after: Invariants = {},
): readonly Finding[] => {
  const { gone, came, both } = byName(before, after);
  const refusing = (name: string, had: Alternatives) => (has: Alternatives) =>
    conditionChanges(`invariant ${kind} ${name}`, [had, has]);
  return [
    ...gone.map((name) => adds(`invariant ${kind} ${name}`, 'The invariant was removed.')),
    ...came.flatMap((name) => refusing(name, ALWAYS)(after[name] ?? ALWAYS)),
    ...both.flatMap(([name, had, has]) => refusing(name, had)(has)),
  ];
};

const textOf = (alternatives: Alternatives): string => {
  if (alternatives.length === 0) return 'never';
  const parts = alternatives.map((each) => each.join(' and '));
  return parts.includes('') ? 'always' : `if ${parts.join(', or if ')}`;
};
