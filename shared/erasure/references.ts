import { capital, column, spaced, targetOf } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import { resolve } from '#kernel/conditions/expression.ts';
import { conditionSql } from '#kernel/conditions/sql.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { CONDITION_AS_TEXT } from '#shared/database/condition-text.ts';

/**
 * Rows of an aggregate of the domain that name a person: `where` is a condition on a row `t` and the id of
 * the person, `$1`.
 */
export type Naming = {
  readonly kind: Kind;
  readonly name: string;
  readonly says: string;
  readonly where: string;
};

/** The aggregates that end with a person, by their reactions to the deletion. */
export const endingWith = (domain: Domain): readonly Naming[] =>
  namingKinds(domain).flatMap((kind) =>
    endingsOf(domain, kind).map(({ words, where }) => ({ kind, ...namedIn(kind, words), where })),
  );

/** The aggregates that stay, without their personal data. */
export const stayingWithout = (domain: Domain): readonly Naming[] =>
  namingKinds(domain).flatMap((kind) => {
    const persons = personsOf(kind);
    const endings = endingsOf(domain, kind);
    const named = `(${persons.map((name) => `t.${column(name, kind.fields[name])} = $1`).join(' or ')})`;
    const stays = [named, ...endings.map(({ where }) => `(${where}) is not true`)].join(' and ');
    const whole = { kind, ...namedIn(kind, [], withoutIn(kind)), where: stays };
    if (endings.length === 0) return [whole];
    const [ending] = endings;
    if (ending?.field === undefined) return persons.length > endings.length ? [whole] : [];
    const { field, words } = ending;
    return (kind.fields[field]?.values ?? [])
      .filter((word) => persons.length > endings.length || !words.includes(word))
      .map((word) => ({
        kind,
        ...namedIn(kind, [word], withoutIn(kind)),
        where: `${stays} and t.${column(field, kind.fields[field])} = '${word}'`,
      }));
  });

/** The personal fields of aggregates that stay. */
export const erasedIn = (
  domain: Domain,
): readonly { readonly kind: Kind; readonly fields: readonly string[] }[] =>
  Object.values(domain.kinds).flatMap((kind) => {
    const fields = personalIn(kind);
    return fields.length === 0 ? [] : [{ kind, fields }];
  });

const namingKinds = ({ kinds }: Domain): readonly Kind[] =>
  Object.values(kinds).filter((kind) => !isUser(kind) && personsOf(kind).length > 0);

const personsOf = ({ fields }: Kind): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name]?.kind === 'ref' && targetOf(fields[name]) === 'user');

const personalIn = ({ fields }: Kind): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name]?.personal !== undefined);

/** If an aggregate names several persons, the report does not list fields. */
const withoutIn = (kind: Kind): readonly string[] => (personsOf(kind).length === 1 ? personalIn(kind) : []);

type Ending = {
  readonly field: string | undefined;
  readonly words: readonly string[];
  readonly where: string;
};

const endingsOf = (domain: Domain, kind: Kind): readonly Ending[] =>
  personsOf(kind).flatMap((name) =>
    Object.entries(kind.reactions[name] ?? {}).flatMap(([event, { run, when }]) => {
      const isEnd = domain.kinds.user?.events[event]?.effect === 'ends' && kind.commands[run]?.kind === 'end';
      if (!isEnd) return [];
      const condition =
        when === undefined
          ? 'true'
          : conditionSql(CONDITION_AS_TEXT, resolve(domain, kind, when), { domain, kind, row: 't' });
      const named = [when ?? []].flat();
      // Conditions on more than states are left out of the words.
      const words = named.every((each) => typeof each === 'string') ? named : [];
      const field = Object.keys(kind.fields).find((each) => kind.fields[each]?.kind === 'states');
      return [
        {
          field: when === undefined ? undefined : field,
          words,
          where: `t.${column(name, kind.fields[name])} = $1 and ${condition}`,
        },
      ];
    }),
  );

/** `publishedArticles`, and `comments without their text`. */
const namedIn = (
  { plural }: Kind,
  states: readonly string[],
  without: readonly string[] = [],
): Pick<Naming, 'name' | 'says'> => {
  const [first = '', ...others] = [
    ...states,
    plural,
    ...(without.length === 0 ? [] : ['without', ...without]),
  ];
  return {
    name: [first, ...others.map(capital)].join(''),
    says: [
      ...(states.length === 0 ? [] : [states.join(' or ')]),
      spaced(plural),
      ...(without.length === 0 ? [] : ['without their', without.map(spaced).join(' and ')]),
    ].join(' '),
  };
};
