import { oneOf, spaced } from '../base/names.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import { type Expression, matching, resolve } from './expression.ts';
import { FOR_OTHERS, READERS } from './rights.ts';

/** The references to the subject of a condition: none for “its status”, one for “the status of its article”. */
type Path = readonly string[];

/** A condition as readable text. */
export const expressionWords = (expression: Expression, path: Path = []): string => {
  switch (expression.op) {
    case 'const':
      return expression.value ? 'always' : 'never';
    case 'and':
      return expression.of
        .map((each) => (each.op === 'or' ? `(${expressionWords(each, path)})` : expressionWords(each, path)))
        .join(' and ');
    case 'or':
      return expression.of.map((each) => expressionWords(each, path)).join(', or ');
    case 'not':
      return negationOf(expression.of, path);
    case 'is':
      return `${thing(expression.field, path)} is ${shownAs(expression.value)}`;
    case 'min':
      return `${thing(expression.field, path)} is at least ${shownAs(expression.than)}`;
    case 'max':
      return `${thing(expression.field, path)} is at most ${shownAs(expression.than)}`;
    case 'caller':
      return `the caller is ${whom(expression.field, path)}`;
    case 'callers':
      return `${thing(expression.field, path)} is the caller’s ${spaced(expression.attribute)}`;
    case 'beside':
      return besideWords(expression, path, 'is');
    case 'at':
      return behind(expression, path);
    case 'some':
      return `for one of ${thing(expression.field, path)}, ${expressionWords(expression.of)}`;
  }
};

/** An author’s condition on the fields and references of an aggregate, as readable text. */
export const conditionWords = (domain: Domain, kind: Kind, condition: unknown): string =>
  expressionWords(resolve(domain, kind, condition));

/** Expressions without a negated form are negated as a whole. */
const negationOf = (expression: Expression, path: Path): string => {
  switch (expression.op) {
    case 'is':
      return `${thing(expression.field, path)} is not ${shownAs(expression.value)}`;
    case 'caller':
      return `the caller is not ${whom(expression.field, path)}`;
    case 'callers':
      return `${thing(expression.field, path)} is not the caller’s ${spaced(expression.attribute)}`;
    case 'beside':
      return expression.by === 'is'
        ? besideWords(expression, path, 'is not')
        : `not (${besideWords(expression, path, 'is')})`;
    default:
      return `not (${expressionWords(expression, path)})`;
  }
};

const behind = ({ field, of }: Extract<Expression, { op: 'at' }>, path: Path): string => {
  if (of.op === 'const') return `${thing(field, path)} is there`;
  const words = expressionWords(of, [...path, field]);
  return of.op === 'or' ? `(${words})` : words;
};

const ORDERS = { is: '', min: ' at least', max: ' at most' } as const;
const besideWords = (
  { field, by, other, up }: Extract<Expression, { op: 'beside' }>,
  path: Path,
  verb: string,
): string => `${thing(field, path)} ${verb}${ORDERS[by]} ${thing(other, path.slice(0, path.length - up))}`;

const thing = (field: string, path: Path): string => {
  const [last, ...before] = path.toReversed();
  return last === undefined
    ? `its ${spaced(field)}`
    : `the ${spaced(field)} of ${thing(last, before.toReversed())}`;
};

const whom = (field: string, path: Path): string => {
  if (field !== 'id') return thing(field, path);
  const [last, ...before] = path.toReversed();
  return last === undefined ? 'the user' : thing(last, before.toReversed());
};

const shownAs = (value: string | number | boolean | null): string =>
  value === null ? 'not set' : String(value);

/** The action that a right allows, as a verb with its object: “read it”, “draft an article”. */
export const deedOf = (kind: Kind, operation: string): string => {
  if (operation === FOR_OTHERS)
    return `create ${oneOf(kind.name)} for another ${spaced(kind.owner ?? 'owner')}`;
  if (operation === READERS) return 'read who has read it';
  const command = kind.commands[operation];
  if (command?.kind === 'create') return `${spaced(operation)} ${oneOf(kind.name)}`;
  if (command?.list !== undefined) return `${spaced(operation)} in its ${spaced(command.list.name)}`;
  const { reads, writes, items } = (kind.fieldRights[operation] ?? {}) as {
    reads?: readonly string[];
    writes?: readonly string[];
    items?: Readonly<Record<string, Row>>;
  };
  if (reads === undefined && writes === undefined && items === undefined) return `${spaced(operation)} it`;
  const some = Object.entries(items ?? {}).map(
    ([list, values]) =>
      `read those of its ${spaced(list)} where ${expressionWords(matching(`${kind.name}.${list}`, kind.lists[list]?.fields ?? {}, values))}`,
  );
  const all = [reads && `read its ${listed(reads)}`, ...some, writes && `write its ${listed(writes)}`];
  return all.filter((each) => each !== undefined).join(' and ');
};

const LIST = new Intl.ListFormat('en-GB');
const listed = (names: readonly string[]): string => LIST.format(names.map(spaced));
