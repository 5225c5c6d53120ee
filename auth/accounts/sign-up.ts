import { AUDITOR_UNTIL } from '#kernel/base/auditor.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Clock } from '#shared/clock/clock.ts';
import {
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RowProofs } from '#shared/row-proofs/row-proofs.ts';
import type { Persons } from '../directory.ts';
import type { Person } from '../persons/person-table.ts';
import type { Credentials } from './credentials.ts';
import { abandonSignUp, beginSignUp, settleSignUp } from './sign-up-table.ts';

export type SignUpDependencies = {
  readonly pool: Pool;
  readonly gateway: CommandGateway;
  readonly persons: Persons;
  readonly credentials: Credentials;
  readonly rowProofs: Pick<RowProofs, 'of' | 'check'>;
  readonly clock: Clock;
};

export type Applicant = {
  readonly formId: string;
  readonly requestId: string;
  /** The `traceparent` of the request. */
  readonly trace?: string | undefined;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly role: Role;
  /** The last day of an auditor. */
  readonly until?: string | undefined;
};

/**
 * `repeated`: this form was already used with other fields. `busy`: unknown or undecided; the same form may
 * be sent again.
 */
export type SignedUp =
  | { readonly outcome: 'done'; readonly person: Person }
  | { readonly outcome: 'taken' | 'repeated' | 'busy' };

const ATTEMPTS_MAX = 20;
const LOOK_AGAIN_MS = 150;

/**
 * Registers a person in three steps, each idempotent, so that any process can continue after a crash:
 *
 * 1. Keep the password's hash under the form's id.
 * 2. Send `RegisterUser` with that id as idempotency key and correlation, so that a repetition finds the same
 *    user.
 * 3. Give the hash to the user: this process does it, or the directory when it sees the registration with
 *    that correlation.
 *
 * So nobody gets an address without its password, and an existing account without a password is never taken
 * over: nobody can sign up as a person whom an administrator has registered.
 */
export const signUp = async (dependencies: SignUpDependencies, applicant: Applicant): Promise<SignedUp> => {
  const { pool, persons, credentials, rowProofs } = dependencies;
  const { email, password, role } = applicant;
  const id = `sign-up-${applicant.formId}`;
  const writing = { database: pool, rowProofs };
  await beginSignUp(writing, { id, phc: await credentials.hash(password) });
  const registered = await register(dependencies, applicant, id);
  if (typeof registered === 'string') {
    if (registered === 'taken') await abandonSignUp(pool, id);
    return { outcome: registered };
  }
  const userId = registered.id as UserId;
  await persons.register({ userId, version: registered.version, email, role });
  await settleSignUp(writing, id, userId);
  // The form may have been sent before and the password changed since: only the current password opens the
  // account.
  if (!(await credentials.verify(userId, password))) return { outcome: 'repeated' };
  const person = await persons.byId(userId);
  return person?.status === 'active' ? { outcome: 'done', person } : { outcome: 'repeated' };
};

const register = async (
  { gateway, clock }: SignUpDependencies,
  { name, email, role, until, requestId, trace }: Applicant,
  id: string,
): Promise<CommandResult | 'taken' | 'repeated' | 'busy'> => {
  const context = {
    caller: { kind: 'system', name: 'sign-up' },
    requestId,
    trace,
    correlationId: id,
    idempotencyKey: id,
  } as const;
  const command = {
    ...{ type: 'RegisterUser', name, email, role },
    ...(until !== undefined && { [AUDITOR_UNTIL]: until }),
  } as const;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const answer = await gateway.send({ ...command }, context).catch(refusalOf);
    if (answer !== 'running') return answer;
    // Another request with the same form is at work.
    await clock.sleep(LOOK_AGAIN_MS);
  }
  return 'busy';
};

const refusalOf = (error: unknown): 'taken' | 'repeated' | 'busy' | 'running' => {
  if (error instanceof CommandUnavailable) return 'busy';
  if (!(error instanceof Rejection)) throw error;
  switch (error.code) {
    case 'email_taken':
      return 'taken';
    case 'idempotency_key_reused':
      return 'repeated';
    case 'idempotency_key_in_use':
      return 'running';
    case 'conflict':
      return 'busy';
    default:
      throw error;
  }
};
