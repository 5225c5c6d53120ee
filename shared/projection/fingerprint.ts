import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/**
 * The declaration that a read model was built from, recorded in two comments. The comment of its schema
 * identifies its tables. The comment of the table `digest` identifies the rows that the same events produce;
 * it was added later, so that earlier releases find their own comment unchanged.
 */
export type Fingerprint = {
  /** Differs if the tables do, or the versions of the events behind them. */
  readonly schema: string;
  /**
   * A hash for each part of the declaration that rows depend on, such as an initial value. A new part
   * occurred in no earlier event.
   */
  readonly rows: Parts;
};
type Parts = Readonly<Record<string, string>>;

/** The comments as read. They need no quoting: they contain hashes, and names of a declaration. */
export type Marks = { readonly schema: string | null; readonly rows: string | null };

const schemaIn = (schema: string): string => `obj_description(to_regnamespace(${schema}), 'pg_namespace')`;
const rowsIn = (schema: string): string => `obj_description(to_regclass(${schema} || '.digest'), 'pg_class')`;

/** SQL of the comments of a read model, whose schema is an expression. */
export const marksIn = (schema: string): string => `${schemaIn(schema)} as schema, ${rowsIn(schema)} as rows`;

/** Earlier releases recorded nothing about rows. */
const UNKNOWN = '-';

/** SQL of the definition as signed heads state it: changes once the same events produce other rows. */
export const definitionIn = (schema: string): string =>
  `concat_ws('.', ${schemaIn(schema)}, nullif(split_part(${rowsIn(schema)}, ' ', 1), '${UNKNOWN}'))`;

/** Whether two read models can have the same rows: no part that both know differs. */
export const isMadeBy = ({ schema, rows }: Fingerprint, marks: Marks | undefined): boolean =>
  marks !== undefined && marks.schema === schema && isSameMeaning(rows, partsIn(marks.rows));

const isSameMeaning = (parts: Parts, others: Parts): boolean =>
  Object.entries(others).every(([name, part]) => !Object.hasOwn(parts, name) || parts[name] === part);

const partsIn = (mark: string | null): Parts =>
  mark === null ? {} : (JSON.parse(mark.slice(mark.indexOf(' ') + 1)) as Parts);

/** The comment for rows: of the same kind as those of the other version, if they have the same meaning. */
export const rowsMark = ({ rows }: Fingerprint, beside: Marks | undefined): string => {
  if (beside === undefined || beside.schema === null || !isSameMeaning(rows, partsIn(beside.rows)))
    return `${hashOf(JSON.stringify(rows))} ${JSON.stringify(rows)}`;
  return `${beside.rows?.split(' ', 1)[0] ?? UNKNOWN} ${JSON.stringify(rows)}`;
};

/** The comment with additions of the declaration; undefined if it is complete. */
export const completedMark = ({ rows }: Fingerprint, { rows: mark }: Marks): string | undefined => {
  const [known, all] = [partsIn(mark), { ...partsIn(mark), ...rows }];
  return isDeepStrictEqual(known, all)
    ? undefined
    : `${mark?.split(' ', 1)[0] ?? UNKNOWN} ${JSON.stringify(all)}`;
};

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
