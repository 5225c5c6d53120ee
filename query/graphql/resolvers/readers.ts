import { notFound, Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { operationOf, READERS } from '#kernel/conditions/rights.ts';
import { admit } from '#shared/policy.ts';
import { listReadersOf, type StoredEntry } from '#shared/read-log/entries.ts';
import { noteReaders, readingOf } from '../../read-log/reading.ts';
import type { Context } from './context.ts';
import { readKeyedConnection } from './keyed-connection.ts';
import { type Row, sourceOfType } from './rows.ts';

/** A connection (GraphQL Cursor Connections Specification) of the entries about an item, the latest first. */
export const readers = async (row: Row, args: Readonly<Record<string, unknown>>, context: Context) => {
  const { domain, caller, loaders, past, pool, isSubscription } = context;
  if (past) throw refused('The log of reads is not available with `at`.');
  if (isSubscription) throw refused('Subscriptions have no log of reads: use a query.');
  const { kind } = sourceOfType(domain, row.__typename);
  const right = operationOf(kind, READERS);
  const admission = admit(caller, right);
  if (admission !== 'allowed') throw admission;
  if (!(await loaders.mayRead(row, [right]))) throw new Rejection(notFound(kind.name));
  noteReaders(kind)(row.id);
  return readKeyedConnection<StoredEntry, number>(args, {
    name: `readers of ${row.__typename} ${row.id}`,
    kindOfKey: 'number',
    read: (stretch) => listReadersOf(pool, { kind: kind.name, id: row.id }, stretch),
    keyOf: ({ number }) => number,
    represent: readingOf,
  });
};

const refused = (detail: string): HttpProblem => new HttpProblem('invalid_parameter', { detail });
