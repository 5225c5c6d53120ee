import { isUser } from '../base/users.ts';
import type { Domain, EventInfo, Kind } from './registry.ts';
import { leastRoleOf, rolesOf } from './roles.ts';

/** The kind that texts for any domain use as example: the first declared aggregate. */
export const exampleKind = (domain: Domain): Kind => {
  const kinds = Object.values(domain.kinds);
  const kind = kinds.find((kind) => !isUser(kind)) ?? kinds[0];
  if (kind === undefined) throw new Error(`${domain.name} has no users`);
  return kind;
};

/**
 * Fills in the placeholders of a text that is written for any domain: `{kind}` and `{path}` of the first
 * aggregate, `{event}` and `{change}` for the most interesting of its events and a change, `{other}` for the
 * most interesting event of the last aggregate, `{role}` for the role after sign-up, `{roles}` for all roles,
 * and `{least}` for the one with the fewest rights.
 */
export const inWordsOf = (domain: Domain, text: string): string => {
  const kind = exampleKind(domain);
  const words: Readonly<Record<string, string | undefined>> = {
    kind: kind.name,
    path: kind.path,
    role: domain.signUp,
    roles: new Intl.ListFormat('en', { type: 'disjunction' }).format(rolesOf(domain)),
    least: leastRoleOf(domain),
    event: subscribedEventOf(kind)?.type,
    change: Object.values(kind.events).find(({ effect }) => effect === 'changes')?.type,
    other: subscribedEventOf(Object.values(domain.kinds).at(-1))?.type,
  };
  return text.replaceAll(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole);
};

/** The fields to show first, of those that every reader of the aggregate may read: a text, and the state. */
export const shownFields = ({ fields, fieldRights }: Kind): readonly string[] => {
  const guarded = new Set(
    Object.values(fieldRights).flatMap(({ reads }) => (reads ?? []) as readonly string[]),
  );
  const first = (form: string) =>
    Object.keys(fields).find((name) => fields[name]?.kind === form && !guarded.has(name));
  return [first('text'), first('states')].filter((name) => name !== undefined);
};

const subscribedEventOf = (kind: Kind | undefined): EventInfo | undefined => {
  const events = Object.values(kind?.events ?? {});
  return events.find(({ spec }) => spec.subscribe) ?? events[0];
};
