import { type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import { isInvalidValue, isRefusedWrite, isWrongCount } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransactionUndone } from '#shared/database/transaction.ts';
import { noteOf } from '#shared/read-log/noted.ts';

const STATEMENT_TIMEOUT_MS = 5_000;
const READS_ONLY = `set transaction read only; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`;

type Resources = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly before: readonly RequestHandler[];
};

/** They come after all routes of Annals, so they can replace none, and before the last error handler. */
export const ownRoutes = (routes: OwnRoutes, { domain, pool, before }: Resources): RequestHandler => {
  let noteTables: ReturnType<typeof notingTables> | undefined;
  const handle: unknown = routes({
    callerOf(request) {
      const caller = callerOf(request);
      if (caller.kind !== 'user') return undefined;
      const { userId, role, scopes } = caller;
      return { id: userId, role, scopes };
    },
    async query(statement, values = []) {
      // The extended protocol takes one statement alone, so none can end the transaction first.
      const asked = { text: statement, values: [...values], queryMode: 'extended' };
      noteTables ??= notingTables(domain);
      noteTables(statement);
      try {
        return await inTransactionUndone(
          pool,
          async (connection) => (await connection.query(asked)).rows,
          READS_ONLY,
        );
      } catch (error) {
        throw meaningOf(error);
      }
    },
    refusal: (code, detail) =>
      code === 'unauthenticated' || code === 'forbidden'
        ? new Rejection(code)
        : new HttpProblem(code, detail === undefined ? {} : { detail }),
  });
  if (typeof handle !== 'function')
    throw new StartRefused(
      '`routes` of start returns no router: it is no async function, and returns Router().get(…).',
    );
  return Router().use(...before, handle as RequestHandler);
};

/** Which items a statement reads is not known, but the aggregates whose tables it names are. */
const notingTables = ({ kinds }: Domain): ((statement: string) => void) => {
  const logged = Object.values(kinds).flatMap((kind) => {
    const note = noteOf(kind);
    if (note === undefined) return [];
    const tables = [kind.table, ...Object.values(kind.lists).map(({ table }) => table)];
    const fields = kind.reads?.only ?? [...Object.keys(kind.fields), ...Object.keys(kind.lists)];
    return [{ names: new RegExp(`\\b(?:${tables.join('|')})\\b`, 'i'), note: () => note(undefined, fields) }];
  });
  return (statement) => {
    for (const { names, note } of logged) if (names.test(statement)) note();
  };
};

/** A retry of such a statement fails again, so neither is temporary; any other failure stays as it is. */
const meaningOf = (cause: unknown): unknown => {
  if (isRefusedWrite(cause)) return new Rejection('forbidden', {}, { says: ONLY_READS, cause });
  if (isInvalidValue(cause)) return new HttpProblem('invalid_parameter', { cause });
  if (isWrongCount(cause))
    return new Error('a statement of an own route has too few or too many values', { cause });
  return cause;
};

const ONLY_READS = 'Routes of an installation’s own can only read, but this one tried to write.';
