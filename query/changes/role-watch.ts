import type { Request } from 'express';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import type { LastingAccess } from '#shared/http/authenticate/resource-server.ts';
import type { UserChange } from '#shared/http/authenticate/revocations.ts';
import { runPrepared } from '../statement.ts';

/** Keeps the tokens of open streams as new as what the streams deliver. */
export type RoleWatch = {
  /** Revokes the tokens whose role has changed. Called before anybody is delivered what came after that. */
  heard(changes: readonly Change[]): void;
  /**
   * Throws if a token that was let in says another role than the read model, which has all that was heard. A token that was issued
   * after the last change of the user is newer than the read model, and passes. Nothing may be awaited between this and the stream.
   */
  demandPresentRole(request: Request): Promise<void>;
};

type Person = { readonly id: number; readonly role: string; readonly is_deleted: boolean } & UserChange;

export const createRoleWatch = (pool: Pool, { refusalNow, revokeUser }: LastingAccess): RoleWatch => {
  const findPerson = coalesce<number, Person>(async (ids) => {
    const rows = await runPrepared<Person>(pool, PERSONS, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  });
  return {
    heard(changes) {
      for (const { type, data, version, at } of changes)
        if (type === 'user.deleted' || (type === 'user.updated' && data.role !== undefined))
          revokeUser(Number(data.userId), { version, at: new Date(at) });
    },
    async demandPresentRole(request) {
      const caller = callerOf(request);
      const person = caller.kind === 'user' ? await findPerson(caller.userId) : undefined;
      const isChanged = person && caller.kind === 'user' && (person.is_deleted || person.role !== caller.role);
      const refusal = refusalNow(request, isChanged ? person : undefined);
      if (refusal !== undefined) throw refusal;
    },
  };
};

const PERSONS = `select id, role, version, coalesce(deleted_at, updated_at) as at, deleted_at is not null as is_deleted
  from read_model.users where id = any($1::bigint[])`;
