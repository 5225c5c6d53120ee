import { type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import { isInvalidValue, isRefusedWrite, isWrongCount } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransactionUndone } from '#shared/database/transaction.ts';
import { isOfAuditor } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import { noteOfView } from './views/notes.ts';

const STATEMENT_TIMEOUT_MS = 5_000;
const READS_ONLY = `set transaction read only; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`;

type Resources = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly before: readonly RequestHandler[];
};

/** They come after all routes of Annals, so they can replace none, and before the last error handler. */
export const ownRoutes = (routes: OwnRoutes, { domain, pool, before }: Resources): RequestHandler => {
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
      noteTables(domain)(statement);
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
  return Router().use(...before, refuseAuditorsWriting, handle as RequestHandler);
};

/** Auditors only read, whatever an own route does with another method. */
const refuseAuditorsWriting: RequestHandler = (request, _response, next) => {
  if (isOfAuditor(callerOf(request)) && !READING.has(request.method)) throw new Rejection('forbidden');
  next();
};
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Nobody knows which items a statement reads. So each aggregate is noted if the statement names a table of it, a table
 * beside that, or a view made from it. The log and its snapshots have all aggregates.
 */
export const noteTables = oncePer((domain: Domain): ((statement: string) => void) => {
  const ofKinds = Object.values(domain.kinds).flatMap((kind) => {
    const note = noteOf(kind);
    if (note === undefined) return [];
    const tables = [kind.table, ...Object.values(kind.lists).map(({ table }) => table)];
    const fields = kind.reads?.only ?? [...Object.keys(kind.fields), ...Object.keys(kind.lists)];
    return [{ tables: [...tables, ...OF_ALL], note: () => note(undefined, fields) }];
  });
  const ofViews = domain.views.flatMap((view) => {
    const noted = noteOfView(domain, view);
    return noted === undefined ? [] : [{ tables: [view.table], note: () => noted.note(undefined) }];
  });
  const logged = [...ofKinds, ...ofViews].map(({ tables, note }) => ({
    names: new RegExp(`\\b(?:${tables.join('|')})(?:_\\w+)?\\b`, 'i'),
    note,
  }));
  return (statement) => {
    for (const { names, note } of logged) if (names.test(statement)) note();
  };
});

const OF_ALL = ['event_log', 'snapshots'];

/** A retry of such a statement fails again, so neither is temporary; any other failure stays as it is. */
const meaningOf = (cause: unknown): unknown => {
  if (isRefusedWrite(cause)) return new Rejection('forbidden', {}, { says: ONLY_READS, cause });
  if (isInvalidValue(cause)) return new HttpProblem('invalid_parameter', { cause });
  if (isWrongCount(cause))
    return new Error('a statement of an own route has too few or too many values', { cause });
  return cause;
};

const ONLY_READS = 'Routes of an installation’s own can only read, but this one tried to write.';
