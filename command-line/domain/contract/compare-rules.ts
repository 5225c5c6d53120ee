import { isDeepStrictEqual } from 'node:util';
import { commandChanges, invariantChanges } from './compare-conditions.ts';
import type { Contract } from './contract.ts';
import { adds, breaks, byName, type Finding, warns } from './finding.ts';
import type { KindRules, LimitRule } from './rules.ts';
import { valueChanges } from './views.ts';

const NONE: KindRules = {};

/**
 * Refusing what was accepted breaks the contract; changed reactions and timers are reported. Rules that were
 * not recorded yet are skipped.
 */
export const compareRules = (
  { rules: before, rights }: Contract['rights'],
  { rules: after }: Contract['rights'],
): readonly Finding[] => {
  if (before === undefined || after === undefined) return [];
  const { gone, came: all, both } = byName(before, after);
  // No rule of a new aggregate refuses what was accepted.
  const came = all.filter((kind) => Object.keys(rights).some((right) => right.startsWith(`${kind}.`)));
  // The events already report a removed aggregate.
  return [
    ...both,
    ...came.map((kind) => [kind, NONE, after[kind] ?? NONE] as const),
    ...gone.map((kind) => [kind, before[kind] ?? NONE, NONE] as const),
  ].flatMap(([kind, was, is]) => [
    ...limitChanges(kind, was.limits ?? {}, is.limits ?? {}),
    // Older contracts lack commands and invariants.
    ...(was.commands === undefined
      ? []
      : [
          ...commandChanges(kind, was.commands, is.commands ?? {}),
          ...invariantChanges(kind, was.invariants, is.invariants),
        ]),
    ...listChanges(kind, was.lists ?? {}, is.lists ?? {}),
    ...fileChanges(kind, was.files ?? {}, is.files ?? {}),
    ...consequenceChanges(`reaction ${kind}`, was.reactions ?? {}, is.reactions ?? {}),
    ...consequenceChanges(`change elsewhere ${kind}`, was.also ?? {}, is.also ?? {}),
    ...consequenceChanges(`timer ${kind}`, was.timers ?? {}, is.timers ?? {}),
    ...consequenceChanges(`schedule ${kind}`, was.schedules ?? {}, is.schedules ?? {}),
    ...valueChanges(`derived ${kind}`, was.derived, is.derived),
  ]);
};

type Limits = Readonly<Record<string, LimitRule>>;

const limitChanges = (kind: string, before: Limits, after: Limits): readonly Finding[] => {
  const { gone, came, both } = byName(before, after);
  return [
    ...gone.map((name) => adds(`limit ${kind} ${name}`, 'The limit was removed.')),
    ...came.map((name) =>
      breaks(
        `limit ${kind} ${name}`,
        `Values accepted before are refused by a new limit: at most ${countedText(after[name])}.`,
        'Accept it with a reason: existing aggregates do not count.',
      ),
    ),
    ...both.flatMap(([name, was, is]) => limitChange(`limit ${kind} ${name}`, was, is)),
  ];
};

const limitChange = (what: string, was: LimitRule, is: LimitRule): readonly Finding[] => {
  const { max: had, refusal: by, ...counted } = was;
  const { max, refusal, ...countedNow } = is;
  const isOther = !isDeepStrictEqual(counted, countedNow);
  return [
    ...(isOther
      ? [
          breaks(
            what,
            `It counts other aggregates than before: at most ${countedText(is)} instead of ${countedText(was)}.`,
            'Declare a limit with another name.',
          ),
        ]
      : []),
    ...(max < had
      ? [
          breaks(
            `${what} max`,
            `Values accepted before are refused: at most ${max} instead of ${had}.`,
            `Keep it at ${had}.`,
          ),
        ]
      : []),
    ...(max > had ? [adds(`${what} max`, `At most ${max}, and not ${had}.`)] : []),
    ...(refusal === by
      ? []
      : [
          breaks(
            `${what} code`,
            `It is refused with the code ${refusal} instead of ${by}.`,
            'Codes follow from names: give the limit the name from which that code follows.',
          ),
        ]),
  ];
};

const countedText = (limit: LimitRule | undefined): string =>
  limit === undefined
    ? ''
    : `${limit.max} ${limit.per.length === 0 ? 'in all' : `of one ${limit.per.join(' and ')}`}${limit.while ? ` while ${limit.while}` : ''}`;

type Lists = Readonly<Record<string, number>>;

/** The operations already report a new or removed list. */
const listChanges = (kind: string, before: Lists, after: Lists): readonly Finding[] =>
  byName(before, after).both.flatMap(([name, had, max]) => {
    const what = `list ${kind} ${name} max`;
    if (max < had)
      return [
        breaks(
          what,
          `Values accepted before are refused: at most ${max} items instead of ${had}.`,
          `Keep it at ${had}.`,
        ),
      ];
    return max > had ? [adds(what, `At most ${max} items instead of ${had}.`)] : [];
  });

type Files = NonNullable<KindRules['files']>;

const fileChanges = (kind: string, before: Files, after: Files): readonly Finding[] =>
  byName(before, after).both.flatMap(([name, was, is]) => {
    const what = `file ${kind} ${name}`;
    const [lost] = was.types.filter((type) => !is.types.includes(type));
    const [come] = is.types.filter((type) => !was.types.includes(type));
    return [
      ...(lost === undefined
        ? []
        : [
            breaks(
              `${what} types`,
              `Files accepted before are refused: those of the type ${lost}.`,
              `Keep ${lost}.`,
            ),
          ]),
      ...(come === undefined ? [] : [adds(`${what} types`, `Also files of the type ${come}.`)]),
      ...(is.bytesMax < was.bytesMax
        ? [
            breaks(
              `${what} bytesMax`,
              `Files accepted before are refused: at most ${is.bytesMax} bytes instead of ${was.bytesMax}.`,
              `Keep it at ${was.bytesMax}.`,
            ),
          ]
        : []),
      ...(is.bytesMax > was.bytesMax
        ? [adds(`${what} bytesMax`, `At most ${is.bytesMax} bytes instead of ${was.bytesMax}.`)]
        : []),
    ];
  });

const consequenceChanges = (
  what: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly Finding[] => {
  const { gone, came, both } = byName(before, after);
  return [
    ...gone.map((name) => warns(`${what} ${name}`, 'It was removed.')),
    ...came.map((name) => adds(`${what} ${name}`, 'It is new.')),
    ...both.flatMap(([name, was, is]) =>
      isDeepStrictEqual(was, is)
        ? []
        : [warns(`${what} ${name}`, 'It now does something else, or at another time.')],
    ),
  ];
};
