import { type Alternatives, covers } from '../meaning/alternatives.ts';
import type { RightReport } from '../meaning/rights.ts';
import type { Contract } from './contract.ts';
import { adds, breaks, byName, type Finding, warns } from './finding.ts';

type Rights = Contract['rights'];

/**
 * Tokens have scopes. Narrowing a right may be intended; a right that shows more personal data must be
 * intended.
 */
export const compareRights = (before: Rights, after: Rights): readonly Finding[] => {
  const { gone, came, both } = byName(before.rights, after.rights);
  const reading = readingOf(before, after);
  return [
    ...before.scopes
      .filter((scope) => !after.scopes.includes(scope))
      .map((scope) =>
        breaks(
          `scope ${scope}`,
          `The scope ${scope} was removed, but issued tokens have it.`,
          'Keep a right in the declaration that requires it.',
        ),
      ),
    ...after.scopes
      .filter((scope) => !before.scopes.includes(scope))
      .map((scope) =>
        adds(`scope ${scope}`, `The scope ${scope} is new: grant it to the clients that need it.`),
      ),
    ...gone.map((right) => warns(`right ${right}`, `The right ${right} is gone.`)),
    ...both.flatMap(([right, was, is]) => rightChanges(right, [was, is], reading)),
    ...came.map((right) => adds(`right ${right}`, `The right ${right} is new.`)),
    ...(before.signUp === undefined || before.signUp === after.signUp
      ? []
      : [warns('sign-up role', `New users have the role ${after.signUp} instead of ${before.signUp}.`)]),
    ...partChanges(before, after),
    ...personalChanges(before, after, reading),
  ];
};

/** The conditions under which a role has a right, as alternatives. */
type Reading = (right: RightReport, role: string) => Alternatives;

const ALWAYS = 'always';

/**
 * An earlier release recorded conditions in words only; their parts are known if the condition is still
 * declared. Otherwise it is one part.
 */
const readingOf = (before: Rights, after: Rights): Reading => {
  const parts = new Map(Object.entries({ ...after.conditions, ...before.conditions }));
  return ({ by }, role) =>
    (by[role] ?? []).flatMap((each) => (each === ALWAYS ? [[]] : (parts.get(each) ?? [[each]])));
};

const rightChanges = (
  right: string,
  [was, is]: readonly [RightReport, RightReport],
  reading: Reading,
): readonly Finding[] => [
  ...(was.scope === is.scope
    ? []
    : [warns(`right ${right} scope`, `It requires the scope ${is.scope} instead of ${was.scope}.`)]),
  ...rolesOf(was, is).flatMap((role): readonly Finding[] => {
    const what = `right ${right} ${role}`;
    const to = `${role} may do it: ${textOf(is.by[role])}; before: ${textOf(was.by[role])}.`;
    const [had, has] = [reading(was, role), reading(is, role)];
    if (covers(has, had)) return covers(had, has) ? [] : [adds(what, `Wider: ${to}`)];
    return [warns(what, covers(had, has) ? `Narrower: ${to}` : `Changed, may be wider: ${to}`)];
  }),
];

/** A part without a right of its own can be read by everybody who reads the aggregate. */
const partChanges = ({ parts: was }: Rights, { parts: is = {} }: Rights): readonly Finding[] => {
  if (was === undefined) return [];
  const { gone, came, both } = byName(rightsByPart(was), rightsByPart(is));
  return [
    ...gone.map((part) =>
      warns(`part ${part}`, 'Wider: the right to read the rest is now enough; it had a right of its own.'),
    ),
    ...came.map((part) =>
      warns(
        `part ${part}`,
        `Narrower: it now requires the right ${rightsByPart(is)[part]}; the right to read the rest was enough before.`,
      ),
    ),
    ...both.flatMap(([part, by, byNow]) =>
      by === byNow ? [] : [warns(`part ${part}`, `It requires the right ${byNow} instead of ${by}.`)],
    ),
  ];
};

/** Keys such as `ticket.budget`. */
const rightsByPart = (parts: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(parts).flatMap(([right, names]) =>
      names.map((name) => [`${right.split('.', 1)[0]}.${name}`, right]),
    ),
  );

/** If another right now guards a field, compares the two. */
const personalChanges = (before: Rights, after: Rights, reading: Reading): readonly Finding[] => {
  const known = new Set(Object.values(before.rights).flatMap(({ by }) => Object.keys(by)));
  return byName(before.personal, after.personal).both.flatMap(([field, by, byNow]) => {
    const [was, is] = [before.rights[by], after.rights[byNow]];
    if (!was || !is) return [];
    return rolesOf(was, is).flatMap((role) => {
      // Nobody has a new role yet.
      if (!known.has(role)) return [];
      if (covers(reading(was, role), reading(is, role))) return [];
      const says = `${field} is personal, and ${role} may now read it ${textOf(is.by[role])}.`;
      return [breaks(`personal ${field} ${role}`, says, 'Keep the right to read unchanged.')];
    });
  });
};

const rolesOf = (was: RightReport, is: RightReport): readonly string[] => [
  ...new Set([...Object.keys(was.by), ...Object.keys(is.by)]),
];

const textOf = (conditions: readonly string[] = []): string => {
  if (conditions.length === 0) return 'never';
  return conditions.includes(ALWAYS) ? ALWAYS : `if ${conditions.join(', or if ')}`;
};
