import {
  BreakingChangeType,
  buildSchema,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  SafeChangeType,
} from 'graphql';
import { adds, breaks, type Finding, warns } from './finding.ts';

const KEEP = 'Keep the old name and type in the declaration, and add the new one beside it.';

/** The differences that `findSchemaChanges` of graphql-js finds between two schemas in SDL. */
export const compareGraphql = (before: string, after: string): readonly Finding[] =>
  findSchemaChanges(read(before), read(after)).flatMap(({ type, description }): readonly Finding[] => {
    if (type === SafeChangeType.DESCRIPTION_CHANGED) return [];
    const what = `graphql ${coordinateIn(description)}`;
    if (type in BreakingChangeType) return [breaks(what, description, KEEP)];
    return [WARNED.has(type) ? warns(what, description) : adds(what, description)];
  });

/**
 * A client may read a value or a type that it does not know, and an omitted argument may mean something else.
 */
const WARNED: ReadonlySet<string> = new Set([
  DangerousChangeType.VALUE_ADDED_TO_ENUM,
  DangerousChangeType.TYPE_ADDED_TO_UNION,
  DangerousChangeType.ARG_DEFAULT_VALUE_CHANGE,
  DangerousChangeType.INPUT_FIELD_DEFAULT_VALUE_CHANGE,
]);

/** This very program recorded it, and federation directives are declared nowhere. */
const read = (sdl: string): GraphQLSchema => buildSchema(sdl, { assumeValidSDL: true });

/**
 * The field, argument or type at the start of a description, such as `Post.title` or `Query.posts(limit:)`.
 */
const coordinateIn = (description: string): string => {
  const words = description.split(' ').map((word) => word.replace(/\.$/, ''));
  return (
    words.find((word) => /^@?\w+[.(]\S/.test(word)) ??
    words.find((word) => /^[A-Z]\w*$/.test(word) && !ABOUT.has(word)) ??
    description
  );
};

/** The first words of descriptions. */
const ABOUT: ReadonlySet<string> = new Set([
  'Field',
  'Argument',
  'Enum',
  'Directive',
  'A',
  'An',
  'Standard',
  'Repeatable',
]);
