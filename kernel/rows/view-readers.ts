import { column, snake } from '../base/names.ts';
import type { Expression } from '../conditions/expression.ts';
import { fieldsOfItem } from '../conditions/expression.ts';
import { childrenOf, fieldsIn, fold } from '../conditions/fold.ts';
import { operationOf, rightsOf } from '../conditions/rights.ts';
import type { Domain, Kind, ViewInfo } from '../registry/registry.ts';

/**
 * A table that the right to read a view depends on: its changes can change who may read a row of the view
 * that does not change itself.
 */
export type AskedTable = {
  readonly name: string;
  /** The columns that find its rows, and those that the right asks for. */
  readonly columns: readonly string[];
  /** SQL that joins these rows of it, as `x`, to the dependent rows `v` of the view. */
  joinTo(rows: string): string;
  /** SQL that finds the affected users from `x`; undefined if everyone may be affected. */
  readonly readers: readonly Readers[] | undefined;
};

type Readers = { readonly joins: string; readonly id: string };

/** The rows to which a condition applies: their kind, their alias, and the joins to the view. */
type JoinedRow = { readonly kind: Kind; readonly row: string; readonly joins: string };

export const tablesAskedFor = (domain: Domain, view: ViewInfo): readonly AskedTable[] => {
  const tables: AskedTable[] = [];
  const enter = (
    table: string,
    { id, of, kind }: { readonly id: string; readonly of: Expression; readonly kind: Kind },
    to: string,
    joined: JoinedRow,
  ) => {
    const row = `r${tables.length}`;
    tables.push({
      name: table,
      columns: [...new Set([id, ...columnsIn(of, kind)])],
      joinTo: (rows) => `${joined.joins} join ${rows} x on x.${id} = ${joined.row}.${to}`,
      readers: readersIn(domain, of, { kind, row: 'x', joins: '' }),
    });
    visit(of, {
      kind,
      row,
      joins: `${joined.joins} join ${table} ${row} on ${row}.${id} = ${joined.row}.${to}`,
    });
  };
  const visit = (expression: Expression, joined: JoinedRow): void => {
    const { kind } = joined;
    for (const asked of childrenOf(expression)) {
      const target = asked.op === 'at' ? domain.kinds[asked.kind] : undefined;
      const list = asked.op === 'some' ? kind.lists[asked.field] : undefined;
      if (asked.op === 'at' && target) {
        const to = column(asked.field, kind.fields[asked.field]);
        enter(target.table, { id: 'id', of: asked.of, kind: target }, to, joined);
      }
      if (asked.op === 'some' && list) {
        const items = { ...kind, fields: fieldsOfItem(list) };
        enter(list.table, { id: `${snake(kind.name)}_id`, of: asked.of, kind: items }, 'id', joined);
      }
    }
  };
  for (const condition of rightsOf(domain).get(operationOf(view.asked, 'read'))?.alternatives ?? [])
    visit(condition, { kind: view.asked, row: 'v', joins: '' });
  return tables;
};

/** Returns the only users for whom the condition can be true, whatever else it asks. */
const readersIn = (
  domain: Domain,
  condition: Expression,
  joined: JoinedRow,
): readonly Readers[] | undefined => {
  const { kind, row, joins } = joined;
  const behind = (of: Expression, there: Kind, on: (row: string) => string) => {
    const next = `${row}${row.length}`;
    return readersIn(domain, of, { kind: there, row: next, joins: `${joins} join ${on(next)}` });
  };
  return fold<readonly Readers[] | undefined>(condition, {
    constant: () => undefined,
    all: (parts) => parts.find((each) => each !== undefined),
    any: (parts) => (parts.every((each) => each !== undefined) ? parts.flat() : undefined),
    not: () => undefined,
    question(asked) {
      const to = column(asked.field, kind.fields[asked.field]);
      if (asked.op === 'caller') return [{ joins, id: `${row}.${to}` }];
      const target = asked.op === 'at' ? domain.kinds[asked.kind] : undefined;
      if (asked.op === 'at' && target)
        return behind(asked.of, target, (next) => `${target.table} ${next} on ${next}.id = ${row}.${to}`);
      const list = asked.op === 'some' ? kind.lists[asked.field] : undefined;
      if (asked.op !== 'some' || list === undefined) return undefined;
      const items = { ...kind, fields: fieldsOfItem(list) };
      const on = (next: string): string =>
        `${list.table} ${next} on ${next}.${snake(kind.name)}_id = ${row}.id`;
      return behind(asked.of, items, on);
    },
  });
};

/** Columns of the rows themselves, not of rows behind references. */
const columnsIn = (expression: Expression, kind: Kind): readonly string[] =>
  fieldsIn(expression).map((field) => column(field, kind.fields[field]));

/** True if events of other aggregates can change who may read a row under this condition. */
export const asksOthers = (condition: Expression): boolean =>
  childrenOf(condition).some(({ op }) => op === 'at' || op === 'some');
