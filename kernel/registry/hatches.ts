import { column, wire } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { type FieldDef, flag, integer, line } from '../declare/fields.ts';
import type { CustomFilterInfo, Defs, ExpressionInfo, Projection, Row, SqlText } from './registry.ts';

type Written = Pick<ExpressionInfo, 'name' | 'says' | 'text' | 'uses'>;

const TEXT_CHARACTERS_MAX = 200;
const TYPES: Readonly<Record<string, FieldDef>> = {
  Int: integer(-(2 ** 31), 2 ** 31 - 1).def,
  Boolean: flag().def,
  String: line(TEXT_CHARACTERS_MAX).def,
};

export const expressionOf = (aggregate: string, fields: Defs, name: string, spec: Row): ExpressionInfo => ({
  ...writtenOf(`${aggregate}: the expression ${name}`, fields, name, spec),
  def: { ...(TYPES[String(spec.type)] as FieldDef), optional: true },
  value: spec.value as ExpressionInfo['value'],
});

export const customFilterOf = (
  aggregate: string,
  fields: Defs,
  name: string,
  spec: Row,
): CustomFilterInfo => ({
  ...writtenOf(`${aggregate}: the filter ${name}`, fields, name, spec),
  def: TYPES[String(spec.takes)] as FieldDef,
  holds: spec.holds as CustomFilterInfo['holds'],
});

/** Ends a statement, or comments out the rest. */
const ESCAPING = /;|--|\/\*/;
/** In quotes a parenthesis is an ordinary character, and a backslash escapes a quote only after an E. */
const QUOTED =
  /(?<!\w)e'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(?<![\w$\x80-\uffff])\$((?:[a-z_]\w*)?)\$.*?\$\1\$/gis;

/** True if the SQL contains a second statement or a comment outside of quotes. */
export const isEscaping = (sql: string): boolean => ESCAPING.test(sql.replaceAll(QUOTED, "''"));

/** True if the SQL cannot close the parentheses around it, and so cannot undo the conditions beside it. */
export const isBalanced = (sql: string): boolean => {
  let depth = 0;
  for (const character of sql.replaceAll(QUOTED, '')) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
};

export const UNBALANCED = 'has unbalanced parentheses: balance “(” and “)”.';

const MARKED = /⟨(\w*)⟩/;
const GIVEN = '⟨⟩';

/** Generates the SQL once, with marks for the columns and the parameter. */
const writtenOf = (place: string, fields: Defs, name: string, { sql, says }: Row): Written => {
  const uses = new Set<string>();
  const columns = new Proxy({} as Readonly<Record<string, string>>, {
    get(_, field) {
      const def = typeof field === 'string' && Object.hasOwn(fields, field) ? fields[field] : undefined;
      if (def === undefined)
        throw new StartRefused(
          `${place} uses the column of ${String(field)}, which is not a field: use one of ${Object.keys(fields).join(', ')}.`,
        );
      uses.add(String(field));
      return `⟨${column(String(field), def)}⟩`;
    },
  });
  const written = (sql as (columns: unknown, given: string) => string)(columns, GIVEN);
  if (isEscaping(written))
    throw new StartRefused(`${place} has more than one expression: remove “;”, “--” and “/*”.`);
  if (!isBalanced(written)) throw new StartRefused(`${place} ${UNBALANCED}`);
  const parts = written.split(MARKED).flatMap((part, index): SqlText => {
    if (index % 2 === 1) return [part === '' ? { given: true } : { column: part }];
    return part === '' ? [] : [part];
  });
  return { name, says: says as string | undefined, text: parts, uses: [...uses] };
};

/** The PostgreSQL type of an expression. */
export const expressionType = ({ kind }: FieldDef): 'integer' | 'boolean' | 'text' =>
  kind === 'integer' || kind === 'boolean' ? kind : 'text';

export type ProjectionSpec = {
  readonly by: Readonly<Record<string, Projection | undefined>>;
  readonly version?: number;
};

/**
 * Projections by field for one event. Code gets no personal and no guarded data, because everyone can read
 * its result.
 */
export const projectionsOf = (
  {
    name: aggregate,
    fields,
    guarded,
  }: { readonly name: string; readonly fields: Defs; readonly guarded: ReadonlySet<string> },
  event: string,
  declared: Readonly<Record<string, ProjectionSpec>>,
): Readonly<Record<string, Projection>> => {
  const withheld = Object.entries(fields).flatMap(([name, def]) =>
    def.personal === undefined && !guarded.has(name) ? [] : [wire(name, def)],
  );
  return Object.fromEntries(
    Object.entries(declared).flatMap(([field, { by }]) => {
      const project = Object.hasOwn(by, event) ? by[event] : undefined;
      if (project === undefined) return [];
      const projection = named(
        `${aggregate}.${field}`,
        withheld.length === 0 ? project : (data) => project(without(data, withheld)),
      );
      // The source text, for comparisons of meaning.
      return [[field, Object.assign(projection, { toString: () => `${project} ${withheld}` })]];
    }),
  );
};

/** Author’s code threw on the data of an event. The message is dropped, because it may quote content. */
class FailedProjection extends RangeError {
  constructor(field: string, error: unknown) {
    super(`the projection of ${field} failed with ${error instanceof Error ? error.name : typeof error}`);
    this.name = 'FailedProjection';
  }
}

const named =
  (field: string, project: Projection): Projection =>
  (data) => {
    try {
      return project(data);
    } catch (error) {
      throw new FailedProjection(field, error);
    }
  };

const without = (data: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

/** The versions in the form that the fingerprint contains. */
export const projectionVersionsOf = (declared: Readonly<Record<string, ProjectionSpec>>): readonly string[] =>
  Object.entries(declared).map(
    ([field, { by, version = 1 }]) => `${field} by ${Object.keys(by).toSorted().join(' ')}: ${version}`,
  );

/** The state for an author’s function: the fields that its SQL names. */
export const stateFor = ({ uses }: Pick<Written, 'uses'>, read: (field: string) => unknown): Row =>
  Object.fromEntries(uses.map((field) => [field, read(field)]));
