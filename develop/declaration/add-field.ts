import type { ArrayLiteralExpression, Expression, ObjectLiteralExpression } from 'typescript/unstable/ast';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { addedTo, withEdits } from './edit.ts';
import { importNames } from './imports.ts';
import { type FieldSketch, whyNoField } from './sketch.ts';
import { bare, callsIn, memberOf, nameOf, type Parsed, parse } from './syntax.ts';
import { literal, textOfField } from './text-of-field.ts';

export type Addition = {
  readonly kind: string;
  readonly field: FieldSketch;
  /** The path of the file, for refusals. */
  readonly shown: string;
  /** The module of the functions that declare fields. */
  readonly language: string;
};

/**
 * The file with one more field: in `fields`, and in the events that give the content of the aggregate. All other
 * text of it stays as it is.
 */
export const withField = async (
  text: string,
  { kind, field, shown, language }: Addition,
): Promise<string> => {
  const why = whyNoField(field) ?? whyNotLater(field);
  if (why !== undefined) throw new StartRefused(why);
  const parsed = await parse(text, shown);
  const declared = declarationOf(parsed, { kind, shown });
  const fields = memberOf(declared, 'fields', parsed);
  if (fields === undefined || !parsed.is.isObjectLiteralExpression(fields))
    throw new StartRefused(
      `\`fields\` of ${kind} is no object in place: add ${field.name} to ${shown} by hand.`,
    );
  if (memberOf(fields, field.name, parsed) !== undefined)
    throw new StartRefused(`${kind} has a field ${field.name} already: give the new one another name.`);
  const written = textOfField(field, (of) => (isKnown(parsed, of) ? of : literal(of)));
  return withEdits(text, [
    ...addedTo(text, fields.properties, `${field.name}: ${written}`),
    ...contentsOf(parsed, declared, { kind, shown }).flatMap((list) =>
      addedTo(text, list.elements, literal(field.name)),
    ),
    ...importNames(parsed, [field.type], language),
  ]);
};

/** The recorded events of the aggregate do not have it. */
const whyNotLater = ({ name, options = [], initial }: FieldSketch): string | undefined =>
  options.includes('optional') || initial !== undefined
    ? undefined
    : `Recorded events have no ${name}, so it must be optional or have a default.`;

type Wanted = Pick<Addition, 'kind' | 'shown'>;

const declarationOf = (parsed: Parsed, { kind, shown }: Wanted): ObjectLiteralExpression => {
  const { is } = parsed;
  for (const { call } of callsIn(parsed, 'aggregate')) {
    const [name, declared] = call.arguments;
    if (name === undefined || !is.isStringLiteral(name) || name.text !== kind) continue;
    if (declared !== undefined && is.isObjectLiteralExpression(declared)) return declared;
    throw new StartRefused(`The declaration of ${kind} is no object in place: change ${shown} by hand.`);
  }
  throw new StartRefused(`${shown} has no aggregate('${kind}', {…}) at its top: change it by hand.`);
};

/** A reference to an aggregate that the file does not import leads to it by name. */
const isKnown = (parsed: Parsed, name: string): boolean =>
  name === 'user' || new RegExp(`^import [^;]*\\b${name}\\b[^;]*from`, 'm').test(parsed.text);

/** The lists of the fields that creations contain, and of changes that share fields with them. */
const contentsOf = (
  parsed: Parsed,
  declared: ObjectLiteralExpression,
  { kind, shown }: Wanted,
): readonly ArrayLiteralExpression[] => {
  const { is } = parsed;
  const events = memberOf(declared, 'events', parsed);
  if (events === undefined || !is.isObjectLiteralExpression(events))
    throw new StartRefused(`\`events\` of ${kind} is no object in place: change ${shown} by hand.`);
  const lists = (word: string): readonly ArrayLiteralExpression[] =>
    events.properties.flatMap((event) => {
      const name = nameOf(event, parsed) ?? '';
      const effect = is.isPropertyAssignment(event) ? bare(event.initializer, parsed) : undefined;
      if (effect === undefined || !is.isObjectLiteralExpression(effect)) return [];
      const value = memberOf(effect, word, parsed);
      if (value === undefined) return [];
      const list = listOf(parsed, value);
      if (list !== undefined) return [list];
      throw new StartRefused(
        `\`${word}\` of the event ${name} of ${kind} is no list in place: change ${shown} by hand.`,
      );
    });
  const created = lists('creates');
  const names = new Set(created.flatMap((list) => namesIn(parsed, list)));
  const changed = lists('changes').filter((list) => namesIn(parsed, list).some((name) => names.has(name)));
  return [...new Set([...created, ...changed])];
};

/** In place, or of a constant of the file. */
const listOf = (parsed: Parsed, value: Expression): ArrayLiteralExpression | undefined => {
  const { is, tree } = parsed;
  if (is.isArrayLiteralExpression(value))
    return value.elements.every((each) => is.isStringLiteral(each)) ? value : undefined;
  if (!is.isIdentifier(value)) return undefined;
  for (const statement of tree.statements) {
    if (!is.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (!is.isIdentifier(name) || name.text !== value.text || initializer === undefined) continue;
      const list = is.isAsExpression(initializer) ? initializer.expression : initializer;
      return is.isArrayLiteralExpression(list) ? listOf(parsed, list) : undefined;
    }
  }
  return undefined;
};

const namesIn = ({ is }: Parsed, list: ArrayLiteralExpression): readonly string[] =>
  list.elements.flatMap((element) => (is.isStringLiteral(element) ? [element.text] : []));
