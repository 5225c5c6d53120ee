import { column, snake } from '../base/names.ts';
import type { Expression } from '../conditions/expression.ts';
import { fieldsOfItem } from '../conditions/expression.ts';
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
    switch (expression.op) {
      case 'and':
      case 'or':
        for (const each of expression.of) visit(each, joined);
        return;
      case 'not':
        visit(expression.of, joined);
        return;
      case 'at': {
        const target = domain.kinds[expression.kind];
        if (target !== undefined)
          enter(
            target.table,
            { id: 'id', of: expression.of, kind: target },
            column(expression.field, kind.fields[expression.field]),
            joined,
          );
        return;
      }
      case 'some': {
        const list = kind.lists[expression.field];
        if (list !== undefined)
          enter(
            list.table,
            {
              id: `${snake(kind.name)}_id`,
              of: expression.of,
              kind: { ...kind, fields: fieldsOfItem(list) },
            },
            'id',
            joined,
          );
        return;
      }
      default:
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
  switch (condition.op) {
    case 'caller':
      return [{ joins, id: `${row}.${column(condition.field, kind.fields[condition.field])}` }];
    case 'and':
      return condition.of.map((each) => readersIn(domain, each, joined)).find((each) => each !== undefined);
    case 'or': {
      const all = condition.of.map((each) => readersIn(domain, each, joined));
      return all.every((each) => each !== undefined) ? all.flat() : undefined;
    }
    case 'at': {
      const target = domain.kinds[condition.kind];
      const to = column(condition.field, kind.fields[condition.field]);
      return (
        target &&
        behind(condition.of, target, (next) => `${target.table} ${next} on ${next}.id = ${row}.${to}`)
      );
    }
    case 'some': {
      const list = kind.lists[condition.field];
      if (list === undefined) return undefined;
      const items = { ...kind, fields: fieldsOfItem(list) };
      return behind(
        condition.of,
        items,
        (next) => `${list.table} ${next} on ${next}.${snake(kind.name)}_id = ${row}.id`,
      );
    }
    default:
      return undefined;
  }
};

/** Columns of the rows themselves, not of rows behind references. */
const columnsIn = (expression: Expression, kind: Kind): readonly string[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => columnsIn(each, kind));
    case 'not':
      return columnsIn(expression.of, kind);
    case 'const':
    case 'some':
      return [];
    default:
      return [column(expression.field, kind.fields[expression.field])];
  }
};

/** True if events of other aggregates can change who may read a row under this condition. */
export const asksOthers = (condition: Expression): boolean => {
  switch (condition.op) {
    case 'and':
    case 'or':
      return condition.of.some(asksOthers);
    case 'not':
      return asksOthers(condition.of);
    case 'at':
    case 'some':
      return true;
    default:
      return false;
  }
};
