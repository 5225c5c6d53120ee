import { literal, type Sql, sql } from './sql.ts';

/** Expressions that give JSON text, never SQL's null: exactly what `JSON.stringify` would write. */

/** Text that needs no escapes: ids, which are strings in GraphQL, and the names of enumerations. */
export const plainJson = (value: Sql): readonly Piece[] => ['"', value, '"'];

/**
 * PostgreSQL escapes as `JSON.stringify` does: the quote, the backslash, and control characters, the usual
 * ones by their letters.
 */
export const textJson = (value: Sql): Sql => sql`to_json(${value})::text`;

export const orNull = (json: Sql): Sql => sql`coalesce(${json}, 'null')`;

export const instantJson = (value: Sql): Sql =>
  sql`to_char(${value} at time zone 'UTC', '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""')`;

export const booleanJson = (value: Sql): Sql => sql`(${value})::text`;

/** JSON text in the making: constant text, and expressions between. */
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
 * One expression of pieces, concatenated as a balanced tree: a long text is then copied a few times only, and
 * nothing nests deeply.
 */
export const concatenated = (pieces: readonly Piece[]): Sql =>
  balanced(merged(pieces).map((piece) => (typeof piece === 'string' ? literal(piece) : piece)));

/** Constants that stand side by side become one. */
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
