import { type Find, holds } from '#kernel/conditions/holds.ts';
import { NOTHING, operationOf, type Right, rightsOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';

/** A right asked of an aggregate that is there, or of what is about to be. */
type Question = {
  readonly kind: Kind;
  /** `read`, or a command. */
  readonly operation: string;
  readonly fields: Row;
  readonly find: Find;
};

export type Rights = {
  /** What can be said before anything is read: is the caller signed in, has the token the scope. */
  admit(caller: Caller, kind: Kind, operation: string): 'allowed' | Rejection;
  may(caller: Caller, question: Question): boolean;
  /** As `may`, whatever the scopes of the token. */
  isInReach(caller: Caller, question: Question): boolean;
  /** Refuses in the order in which a caller can do something about it: sign in, get the scope, give up. What they could not see is absent. */
  demand(caller: Caller, question: Question, hidden?: Rejection): void;
};

/** The rights of a domain. A token without the scope reaches as far as no token does: what is public needs no scope. */
export const createRights = (domain: Domain): Rights => {
  const all = rightsOf(domain);
  const rightTo = (kind: Kind, operation: string): Right => {
    const right = all.get(operationOf(kind, operation));
    if (right === undefined) throw new Error(`${kind.name} has no right to ${operation}`);
    return right;
  };
  // Another release may know other roles, which have no rights here.
  const isPublic = ({ byRole }: Right): boolean => (byRole.get('anonymous') ?? NOTHING).size > 0;
  const admitByScope = (caller: Caller, right: Right): 'allowed' | Rejection => {
    const { scope } = right;
    if (caller.kind === 'anonymous') return isPublic(right) ? 'allowed' : new Rejection('unauthenticated');
    return caller.kind === 'system' || caller.scopes.has(scope) ? 'allowed' : new Rejection('insufficient_scope', { scope });
  };
  const reaches = (caller: Caller, { kind, operation, fields, find }: Question, role: string): boolean => {
    if (caller.kind === 'system') return true;
    const callerId = caller.kind === 'user' ? caller.userId : null;
    return [...(rightTo(kind, operation).byRole.get(role) ?? NOTHING)].some((each) => holds(each, fields, callerId, find));
  };
  const roleOf = (caller: Caller): string => (caller.kind === 'user' ? caller.role : 'anonymous');
  const may: Rights['may'] = (caller, question) => {
    const admission = admitByScope(caller, rightTo(question.kind, question.operation));
    return reaches(caller, question, admission === 'allowed' ? roleOf(caller) : 'anonymous');
  };
  return {
    admit(caller, kind, operation) {
      const right = rightTo(kind, operation);
      return isPublic(right) ? 'allowed' : admitByScope(caller, right);
    },
    may,
    isInReach: (caller, question) => reaches(caller, question, roleOf(caller)),
    demand(caller, question, hidden) {
      const admission = admitByScope(caller, rightTo(question.kind, question.operation));
      if (admission !== 'allowed') throw admission;
      if (may(caller, question)) return;
      throw caller.kind === 'anonymous' ? new Rejection('unauthenticated') : (hidden ?? new Rejection('forbidden'));
    },
  };
};
