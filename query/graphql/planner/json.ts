import { literal, type Sql, sql } from './sql.ts';

/** Expressions that return JSON text, never SQL's null: exactly what `JSON.stringify` would write. */

/** Text that needs no escapes: ids, which are strings in GraphQL, and names of enumeration values. */
export const plainJson = (value: Sql): readonly Piece[] => ['"', value, '"'];

/**
 * PostgreSQL escapes as `JSON.stringify` does: quotes, backslashes, and control characters, with the usual
 * short forms.
 */
export const textJson = (value: Sql): Sql => sql`to_json(${value})::text`;

export const orNull = (json: Sql): Sql => sql`coalesce(${json}, 'null')`;

export const instantJson = (value: Sql): Sql =>
  sql`to_char(${value} at time zone 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""')`;

export const booleanJson = (value: Sql): Sql => sql`(${value})::text`;

/** JSON text under construction: constant text and expressions. */
export type Piece = string | Sql;
export type Pieces = Piece | readonly Piece[];

/** An object of members in their order. */
export const objectJson = (members: readonly (readonly [key: string, value: Pieces])[]): readonly Piece[] => [
  '{',
  ...members.flatMap(([key, value], index) => [
    `${index === 0 ? '' : ','}"${key}":`,
    ...(Array.isArray(value) ? value : [value]),
  ]),
  '}',
];

/**
 * Concatenates pieces as a balanced tree: a long text is copied only a few times, and nothing nests deeply.
 */
export const concatenated = (pieces: readonly Piece[]): Sql =>
  balanced(merged(pieces).map((piece) => (typeof piece === 'string' ? literal(piece) : piece)));

/** Merges adjacent constants. */
const merged = (pieces: readonly Piece[]): readonly Piece[] =>
  pieces.reduce<Piece[]>((before, piece) => {
    const last = before.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') before[before.length - 1] = last + piece;
    else before.push(piece);
    return before;
  }, []);

const balanced = (pieces: readonly Sql[]): Sql => {
  const [first = sql`''`] = pieces;
  if (pieces.length <= 1) return first;
  const middle = pieces.length >> 1;
  return sql`(${balanced(pieces.slice(0, middle))} || ${balanced(pieces.slice(middle))})`;
};
