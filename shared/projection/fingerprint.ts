import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/**
 * What a read model is made by, written down with it in two comments. That of its schema says what its tables
 * are. That of the table `digest` says what rows the same events make; it came later, so that earlier
 * releases find their own comment unchanged.
 */
export type Fingerprint = {
  /** Differs where the tables do, and the versions of what they are made of. */
  readonly schema: string;
  /**
   * A hash for each part of the declaration on which rows depend, such as an initial value. One that is new
   * was in no event before.
   */
  readonly rows: Parts;
};
type Parts = Readonly<Record<string, string>>;

/**
 * The comments as they are found. Nothing in them has to be quoted: they are hashes, and names of a
 * declaration.
 */
export type Marks = { readonly schema: string | null; readonly rows: string | null };

const schemaIn = (schema: string): string => `obj_description(to_regnamespace(${schema}), 'pg_namespace')`;
const rowsIn = (schema: string): string => `obj_description(to_regclass(${schema} || '.digest'), 'pg_class')`;

/** SQL of the comments of a read model, whose schema is an expression. */
export const marksIn = (schema: string): string => `${schemaIn(schema)} as schema, ${rowsIn(schema)} as rows`;

/** Earlier releases wrote nothing down of rows. */
const UNKNOWN = '-';

/** SQL of what signed heads say of it: another one once the same events make other rows. */
export const definitionIn = (schema: string): string =>
  `concat_ws('.', ${schemaIn(schema)}, nullif(split_part(${rowsIn(schema)}, ' ', 1), '${UNKNOWN}'))`;

/** Whether rows of the one can be among those of the other: of the parts that both know, none differs. */
export const isMadeBy = ({ schema, rows }: Fingerprint, marks: Marks | undefined): boolean =>
  marks !== undefined && marks.schema === schema && isSameMeaning(rows, partsIn(marks.rows));

const isSameMeaning = (parts: Parts, others: Parts): boolean =>
  Object.entries(others).every(([name, part]) => !Object.hasOwn(parts, name) || parts[name] === part);

const partsIn = (mark: string | null): Parts =>
  mark === null ? {} : (JSON.parse(mark.slice(mark.indexOf(' ') + 1)) as Parts);

/** The comment for rows: of the same kind as those beside it, if these have the same meaning. */
export const rowsMark = ({ rows }: Fingerprint, beside: Marks | undefined): string => {
  if (beside === undefined || beside.schema === null || !isSameMeaning(rows, partsIn(beside.rows)))
    return `${hashOf(JSON.stringify(rows))} ${JSON.stringify(rows)}`;
  return `${beside.rows?.split(' ', 1)[0] ?? UNKNOWN} ${JSON.stringify(rows)}`;
};

/** The comment with what is new in the declaration; nothing if it is complete. */
export const completedMark = ({ rows }: Fingerprint, { rows: mark }: Marks): string | undefined => {
  const [known, all] = [partsIn(mark), { ...partsIn(mark), ...rows }];
  return isDeepStrictEqual(known, all)
    ? undefined
    : `${mark?.split(' ', 1)[0] ?? UNKNOWN} ${JSON.stringify(all)}`;
};

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
