import type { Domain, EventInfo, Kind } from './registry.ts';
import { leastRoleOf, rolesOf } from './roles.ts';

/** What texts about any domain give as an example: the first aggregate that it declares. */
export const exampleKind = (domain: Domain): Kind => {
  const kinds = Object.values(domain.kinds);
  const kind = kinds.find(({ name }) => name !== 'user') ?? kinds[0];
  if (kind === undefined) throw new Error(`${domain.name} has no users`);
  return kind;
};

/**
 * Fills in a text that is written for any domain: `{kind}` and `{path}` are of its first aggregate, `{event}`
 * is what most want to hear of that, `{change}` what changes it, `{other}` what most want to hear of the
 * last, `{role}` what people become who sign up, `{roles}` all roles, and `{least}` the one that may do
 * least.
 */
export const inWordsOf = (domain: Domain, text: string): string => {
  const kind = exampleKind(domain);
  const words: Readonly<Record<string, string | undefined>> = {
    kind: kind.name,
    path: kind.path,
    role: domain.signUp,
    roles: new Intl.ListFormat('en', { type: 'disjunction' }).format(rolesOf(domain)),
    least: leastRoleOf(domain),
    event: toldOf(kind)?.type,
    change: Object.values(kind.events).find(({ effect }) => effect === 'changes')?.type,
    other: toldOf(Object.values(domain.kinds).at(-1))?.type,
  };
  return text.replaceAll(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole);
};

/** What one shows of an aggregate first, of what whoever sees it at all may see: a text, and its state. */
export const shownFields = ({ fields, fieldRights }: Kind): readonly string[] => {
  const guarded = new Set(
    Object.values(fieldRights).flatMap(({ reads }) => (reads ?? []) as readonly string[]),
  );
  const first = (form: string) =>
    Object.keys(fields).find((name) => fields[name]?.kind === form && !guarded.has(name));
  return [first('text'), first('states')].filter((name) => name !== undefined);
};

const toldOf = (kind: Kind | undefined): EventInfo | undefined => {
  const events = Object.values(kind?.events ?? {});
  return events.find(({ spec }) => spec.subscribe) ?? events[0];
};
