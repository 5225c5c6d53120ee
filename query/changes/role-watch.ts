import type { Request } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { UserChange } from '#edge/authenticate/revocations.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { attributesSql, type RoleAndAttributes } from '#shared/role-and-attributes.ts';
import { createRevokeChanged } from '../revocations/changed-users.ts';
import { runPrepared } from '../rows/statement.ts';

/** Keeps the rights of open streams in step with the changes that they deliver. */
export type RoleWatch = {
  /**
   * Revokes the tokens of users whose role or attributes have changed. Called before any later change is
   * delivered.
   */
  receive(changes: readonly Change[]): void;
  /**
   * Throws if the caller’s token disagrees with the read model, which has every change received, about the
   * role or the attributes. A token issued after the user’s last change is newer than the read model, and
   * passes. Nothing may be awaited between this and the start of the stream.
   */
  demandPresentRole(request: Request): Promise<void>;
};

type Person = { readonly id: number; readonly is_deleted: boolean } & RoleAndAttributes & UserChange;

export const createRoleWatch = (
  domain: Domain,
  pool: Pool,
  access: Pick<LastingAccess, 'refusalNow' | 'revokeUser'>,
): RoleWatch => {
  const text = personsSql(domain);
  const findPerson = coalesce<number, Person>(async (ids) => {
    const rows = await runPrepared<Person>(pool, text, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  });
  const isOther = (person: Person, caller: Extract<Caller, { kind: 'user' }>): boolean =>
    person.is_deleted ||
    person.role !== caller.role ||
    attributesOf(domain).some(({ name }) => person.attributes?.[name] !== caller.attributes?.[name]);
  return {
    receive: createRevokeChanged(domain, access),
    async demandPresentRole(request) {
      const caller = callerOf(request);
      const person = caller.kind === 'user' ? await findPerson(caller.userId) : undefined;
      const isChanged = person && caller.kind === 'user' && isOther(person, caller);
      const refusal = access.refusalNow(request, isChanged ? person : undefined);
      if (refusal !== undefined) throw refusal;
    },
  };
};

const personsSql = (
  domain: Domain,
): string => `select id, role, ${attributesSql(domain, 'users')} as attributes, version, coalesce(deleted_at, updated_at) as at,
  deleted_at is not null as is_deleted
  from read_model.users where id = any($1::bigint[])`;
