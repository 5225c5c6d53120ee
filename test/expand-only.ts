import { type ColumnDef, type Constraint, type Node, parse, type RangeVar, type TypeName } from 'libpg-query';
import { isOlder, unusedSinceOf } from '#shared/database/migrate.ts';

/** The migrations of one component, in order. */
type File = { readonly name: string; readonly sql: string };

/**
 * Finds migrations that could break processes of the previous release, which run on while the new one has
 * migrated: everything that is not known to leave existing data as it is. A file with `-- Unused since 0.2.0`
 * may remove things that no release since that one uses.
 */
export const disturbances = async (files: readonly File[], release: string): Promise<readonly string[]> => {
  const tables: Tables = new Map();
  const constraints: Constraints = new Map();
  const found: string[] = [];
  for (const { name, sql } of files) {
    const say = (what: string) => void found.push(`${name} ${what}`);
    const before = new Set(tables.keys());
    const added = new Set<string>();
    const statements = (await parse(sql)).stmts?.flatMap(({ stmt }) => stmt ?? []) ?? [];
    const unusedSince = unusedSinceOf(sql);
    const complain = unusedSince === null ? say : () => {};
    for (const statement of statements) look(statement, { tables, constraints, before, added, complain });
    if (unusedSince !== null && !isOlder(unusedSince, release))
      say(`takes away what is unused since ${unusedSince}: that has to be a release before ${release}`);
  }
  return found;
};

/** Tables with their columns and types. */
type Tables = Map<string, Map<string, string>>;
/** The named constraints, by table and name, and whether each is a check. */
type Constraints = Map<string, boolean>;

type Sight = {
  readonly tables: Tables;
  readonly constraints: Constraints;
  /** The tables of earlier files. */
  readonly before: ReadonlySet<string>;
  /** The columns that this file has added to them. */
  readonly added: Set<string>;
  readonly complain: (what: string) => void;
};

type Kind = Node extends infer Each ? (Each extends unknown ? keyof Each : never) : never;

/** Statements that create things that no process knows yet. */
const HARMLESS: ReadonlySet<string> = new Set<Kind>([
  'CreateSchemaStmt',
  'CreateSeqStmt',
  'CreateEnumStmt',
  'CommentStmt',
  'SelectStmt',
]);

const look = (statement: Node, sight: Sight): void => {
  const { before, added, complain } = sight;
  const isOld = (relation: RangeVar | undefined) => before.has(nameOf(relation));
  if ('CreateStmt' in statement) {
    for (const table of referencedBy(statement))
      if (before.has(table)) complain(`keeps rows of ${table} from being deleted`);
    note(statement, sight.tables);
    noteConstraints(nameOf(statement.CreateStmt.relation), constraintsOf(statement), sight.constraints);
  } else if ('AlterTableStmt' in statement) {
    lookAtAlter(statement.AlterTableStmt, sight);
  } else if ('IndexStmt' in statement) {
    const { relation, unique } = statement.IndexStmt;
    if (unique && isOld(relation)) complain(`makes unique what is in ${nameOf(relation)}`);
  } else if ('CreateTrigStmt' in statement) {
    const { relation } = statement.CreateTrigStmt;
    if (isOld(relation)) complain(`has a trigger on ${nameOf(relation)}`);
  } else if ('CreateFunctionStmt' in statement) {
    if (statement.CreateFunctionStmt.replace) complain('replaces a function: give the new one another name');
  } else if ('UpdateStmt' in statement) {
    const { relation, targetList = [] } = statement.UpdateStmt;
    const columns = targetList.flatMap((target) =>
      'ResTarget' in target ? (target.ResTarget.name ?? []) : [],
    );
    for (const column of columns)
      if (isOld(relation) && !added.has(`${nameOf(relation)}.${column}`))
        complain(`changes what is in ${nameOf(relation)}.${column}`);
  } else if ('InsertStmt' in statement) {
    if (isOld(statement.InsertStmt.relation))
      complain(`adds rows to ${nameOf(statement.InsertStmt.relation)}`);
  } else {
    const [kind = ''] = Object.keys(statement);
    if (!HARMLESS.has(kind)) complain(`has a ${kind}, which is not known to leave everything as it is`);
  }
};

type Statement<Name extends string> = Extract<Node, Record<Name, unknown>>;

/** Changes of storage options, not of data. */
const QUIET: ReadonlySet<string | undefined> = new Set([
  'AT_SetStatistics',
  'AT_SetStorage',
  'AT_SetRelOptions',
  'AT_ColumnDefault',
]);

const lookAtAlter = (
  { relation, cmds = [] }: Statement<'AlterTableStmt'>['AlterTableStmt'],
  { tables, constraints, before, added, complain }: Sight,
): void => {
  const table = nameOf(relation);
  const columns = tables.get(table) ?? new Map<string, string>();
  for (const command of cmds) {
    if (!('AlterTableCmd' in command)) continue;
    const { subtype, name = '', def } = command.AlterTableCmd;
    const column = def && 'ColumnDef' in def ? def.ColumnDef : undefined;
    if (def && 'Constraint' in def) noteConstraints(table, [def.Constraint], constraints);
    const isSame = column !== undefined && columns.get(name) === typeOf(column.typeName);
    if (subtype === 'AT_AddColumn' && column !== undefined) {
      columns.set(column.colname ?? '', typeOf(column.typeName));
      added.add(`${table}.${column.colname}`);
      if (before.has(table) && demandsMore(column))
        complain(`adds ${table}.${column.colname}, which those who do not know it cannot leave out`);
    } else if (
      before.has(table) &&
      !(subtype === 'AT_DropConstraint' && isCheck(constraints, table, name)) &&
      !QUIET.has(subtype) &&
      !(subtype === 'AT_AlterColumnType' && isSame)
    ) {
      complain(`alters ${table}${name && `.${name}`} (${subtype?.slice('AT_'.length)})`);
    }
  }
};

/** Without a check, older processes can write as before. PostgreSQL names constraints without a name. */
const isCheck = (constraints: Constraints, table: string, name: string): boolean =>
  constraints.get(`${table}.${name}`) ?? name.endsWith('_check');

const noteConstraints = (table: string, all: readonly Constraint[], constraints: Constraints): void => {
  for (const { conname, contype } of all)
    if (conname !== undefined) constraints.set(`${table}.${conname}`, contype === 'CONSTR_CHECK');
};

const FREE: ReadonlySet<string | undefined> = new Set([
  'CONSTR_NULL',
  'CONSTR_DEFAULT',
  'CONSTR_IDENTITY',
  'CONSTR_GENERATED',
]);

/** With a default, a column may be not null. */
const demandsMore = ({ constraints = [] }: ColumnDef): boolean => {
  const kinds = constraints.map((each) => ('Constraint' in each ? each.Constraint.contype : undefined));
  const hasValue = kinds.some((kind) => kind !== 'CONSTR_NULL' && FREE.has(kind));
  return kinds.some((kind) => !FREE.has(kind) && !(kind === 'CONSTR_NOTNULL' && hasValue));
};

const note = (statement: Statement<'CreateStmt'>, tables: Tables): void => {
  const { relation, tableElts = [] } = statement.CreateStmt;
  const columns = tableElts.flatMap((element) => ('ColumnDef' in element ? [element.ColumnDef] : []));
  tables.set(
    nameOf(relation),
    new Map(columns.map(({ colname = '', typeName }) => [colname, typeOf(typeName)])),
  );
};

const constraintsOf = ({ CreateStmt: { tableElts = [] } }: Statement<'CreateStmt'>): readonly Constraint[] =>
  tableElts
    .flatMap((element) => ('ColumnDef' in element ? (element.ColumnDef.constraints ?? []) : [element]))
    .flatMap((each) => ('Constraint' in each ? each.Constraint : []));

const referencedBy = (statement: Statement<'CreateStmt'>): readonly string[] =>
  constraintsOf(statement).flatMap(({ pktable }) => (pktable ? nameOf(pktable) : []));

/** The tables that a script creates. */
export const tablesOf = async (sql: string): Promise<Tables> => {
  const tables: Tables = new Map();
  for (const { stmt } of (await parse(sql)).stmts ?? []) if (stmt && 'CreateStmt' in stmt) note(stmt, tables);
  return tables;
};

const nameOf = (relation: RangeVar | undefined): string =>
  [relation?.schemaname, relation?.relname].filter(Boolean).join('.');

/** As written, without its position. */
const typeOf = (type: TypeName | undefined): string =>
  JSON.stringify(type, (key, value: unknown) => (key === 'location' ? undefined : value)) ?? '';
