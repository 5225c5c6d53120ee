import { isDeepStrictEqual } from 'node:util';
import { capital } from '#kernel/base/names.ts';
import { always, conditionOnItem } from '#kernel/conditions/expression.ts';
import { partRightsOf } from '#kernel/conditions/parts-of.ts';
import { FOR_OTHERS, operationOf } from '#kernel/conditions/rights.ts';
import { conditionWords, deedOf, expressionWords } from '#kernel/conditions/words.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { type Alternatives, alternativesOf } from './alternatives.ts';

/** The roles that have a right, each with its conditions, one of which is enough. */
export type RightReport = {
  readonly scope: string;
  readonly by: Readonly<Record<string, readonly string[]>>;
};

/** The right to each operation: those of the aggregates first, then those of the kernel. */
export const rightsReportOf = (domain: Domain): Readonly<Record<string, RightReport>> =>
  Object.fromEntries(
    [...policyOf(domain).rights].map(([operation, { scope, byRole }]) => {
      const by = [...byRole].flatMap(([role, reach]) =>
        reach.size === 0 ? [] : [[role, [...reach].map((each) => expressionWords(each))] as const],
      );
      return [operation, { scope, by: Object.fromEntries(by) }];
    }),
  );

/** The composite conditions, by their words: alternatives, each of which needs all its parts. */
export const compositesOf = (domain: Domain): Readonly<Record<string, Alternatives>> =>
  Object.fromEntries(
    [...policyOf(domain).rights.values()].flatMap(({ byRole }) =>
      [...byRole.values()].flatMap((reach) =>
        [...reach].flatMap((each) => {
          const [words, alternatives] = [expressionWords(each), alternativesOf(each)];
          return each.op === 'const' || isDeepStrictEqual(alternatives, [[words]])
            ? []
            : [[words, alternatives] as const];
        }),
      ),
    ),
  );

/** The right that guards each personal field: its own, or that of the aggregate. */
export const personalReadsOf = (domain: Domain): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.values(domain.kinds).flatMap((kind) =>
      personalFieldsOf(kind).map((field) => [`${kind.name}.${field}`, readerOf(kind, field)]),
    ),
  );

/** The coverage of rights to parts: fields, lists, or certain items of a list. */
export const partsReportOf = (domain: Domain): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.values(domain.kinds).flatMap((kind) =>
      partRightsOf(kind).map(({ name, fields, items }) => [
        operationOf(kind, name),
        [
          ...fields,
          ...items.map(({ list, of }) =>
            of === always ? list.name : `${list.name} if ${expressionWords(of)}`,
          ),
        ],
      ]),
    ),
  );

/** Also those of items, such as `items.note`. */
export const personalFieldsOf = ({ fields, lists }: Kind): readonly string[] => [
  ...Object.keys(fields).filter((name) => fields[name]?.personal),
  ...Object.values(lists).flatMap(({ name, fields: ofItems }) =>
    Object.keys(ofItems).flatMap((field) => (ofItems[field]?.personal ? [`${name}.${field}`] : [])),
  ),
];

/** For certain items of a list, the right to the other items guards the same field. */
const readerOf = (kind: Kind, field: string): string => {
  const [list] = field.split('.');
  const part = partRightsOf(kind).find(
    ({ fields, items }) =>
      fields.includes(field) || items.some((each) => each.list.name === list && each.of === always),
  );
  return operationOf(kind, part?.name ?? 'read');
};

type RightSentence = { readonly right: string; readonly scope: string; readonly says: string };

/** The rights to an aggregate, in one sentence for all roles with the same right. */
export const rightSentencesOf = (domain: Domain, kind: Kind): readonly RightSentence[] => {
  const names = [
    'read',
    ...Object.keys(kind.fieldRights),
    ...(kind.rights[FOR_OTHERS] === undefined ? [] : [FOR_OTHERS]),
    ...Object.values(kind.commands).flatMap(({ name, internal }) => (internal ? [] : [name])),
  ];
  const report = rightsReportOf(domain);
  return [...new Set(names)].flatMap((name) => {
    const right = operationOf(kind, name);
    const { scope = '', by = {} } = report[right] ?? {};
    const only = guardOf(domain, kind, name);
    const deed = deedOf(kind, name);
    const groups = Map.groupBy(Object.entries(by), ([, conditions]) => conditions.join(', or if '));
    if (groups.size === 0) return [{ right, scope, says: `Nobody may ${deed}.` }];
    return [...groups].map(([conditions, having]) => {
      const roles = capital(LIST.format(having.map(([role]) => role)));
      return {
        right,
        scope,
        says: `${roles} may ${deed}${conditions === 'always' ? '' : ` if ${conditions}`}${only}.`,
      };
    });
  });
};

const LIST = new Intl.ListFormat('en-GB');

/** The state that a command requires of the aggregate, whoever sends it. */
const guardOf = (domain: Domain, kind: Kind, name: string): string => {
  const command = kind.commands[name];
  const { when, list } = command ?? {};
  const onItem = command === undefined ? always : conditionOnItem(domain, kind, command);
  const ofItem =
    list === undefined || onItem === always ? '' : `, and only if ${expressionWords(onItem, [list.one])}`;
  return when === undefined ? ofItem : `, and only while ${conditionWords(domain, kind, when)}${ofItem}`;
};
