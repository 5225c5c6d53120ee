import type { UserId, Version } from '#kernel/base/brands.ts';
import { isNot, Rejection } from '#kernel/base/rejection.ts';
import { attributesOf } from '#kernel/conditions/attributes.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { AgentRequests } from '#kernel/registry/confirms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { NO_STREAM, type ReadAt } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { type Caller, isPerson, policyOf } from '#shared/policy.ts';
import { isDeactivated } from '../administrators/keep-administrator.ts';
import type { Decision, Other } from '../execute.ts';
import type { ExecutionContext, Sent } from '../handling/execution-context.ts';
import type { AnyHandler, HandlerDependencies } from '../handling/handler.ts';
import { streamOf, type Target } from '../handling/target.ts';
import { profileOf, userStream, usersOf } from '../users/user.ts';
import type { MakePlan, Plan } from './plan.ts';

type Approving = Pick<HandlerDependencies, 'domain' | 'states' | 'executor' | 'pool'> & {
  readonly requests: AgentRequests;
  readonly plan: MakePlan;
  /** Reads a stored command by the present schemas; throws `Rejection` if they no longer accept it. */
  parse(input: string): Command;
  readonly needsReason: NonNullable<AnyHandler['needsReason']>;
};

/** The decision of a request is that of a person who is signed in, and never of what acts for one. */
const demandPerson = (caller: Caller): void => {
  if (!isPerson(caller)) throw new Rejection('person_required');
};

/** Declines a request. */
export const declining =
  (handler: AnyHandler): AnyHandler['handle'] =>
  async (given, sent) => {
    demandPerson(sent.caller);
    return handler.handle(given, sent);
  };

/**
 * Approves a request: decides its command as it is now, for its user and with the rights of both, and appends the
 * approval and the events of the command at once. So it happens once, or not at all.
 */
export const approving =
  (approving: Approving): AnyHandler['handle'] =>
  async (given, sent) => {
    demandPerson(sent.caller);
    const { domain, requests, executor, plan } = approving;
    const id = (given as Record<string, unknown>)[`${requests.name}Id`] as number;
    const own = await plan(given as Command, sent);
    if (own.isCreation) throw new Error('an approval creates nothing of its own');
    let attempt = 0;
    const target: Target = {
      ...own.target,
      decider: deciderOf(domain, requests),
      stream: streamOf(requests, id),
      async decide(state) {
        const decision = await own.target.decide(state);
        const fields = state.status === 'present' ? (state.fields as RequestFields) : undefined;
        if (fields === undefined || decision.events.length === 0) return decision;
        const asked = await decideAsked(approving, { fields, given: given as Approval, sent, attempt });
        attempt += 1;
        return { ...joined(decision, asked), events: withResult(decision.events, asked.path) };
      },
    };
    return { id, ...(await executor.change(target, sent.execution)) };
  };

type RequestFields = {
  readonly askedBy: UserId;
  readonly agent: string;
  readonly target: string;
  readonly targetVersion: Version | null;
  readonly input: string | null;
  readonly reason: string | null;
  readonly expiresAt: string;
};
type Approval = Command & { readonly targetVersion?: Version | null };

type Asked = {
  readonly fields: RequestFields;
  readonly given: Approval;
  readonly sent: Sent;
  readonly attempt: number;
};

type DecidedCommand = Decision<never> & { readonly path: string };

const decideAsked = async (approving: Approving, asked: Asked): Promise<DecidedCommand> => {
  const { states, plan, requests } = approving;
  const { fields, given, sent, attempt } = asked;
  const { metadata, ids } = sent.execution;
  if (Date.parse(fields.expiresAt) <= Date.parse(metadata.at))
    throw new Rejection(isNot(requests.name, 'open'), {}, { says: requests.refusals.open?.says });
  if (fields.input === null) throw new Rejection('user_deleted');
  const { asker, read } = await askerOf(approving, fields);
  const execution: ExecutionContext = {
    ...sent.execution,
    ifVersion: undefined,
    unlessVersion: undefined,
    metadata: {
      ...metadata,
      actor: `user:${fields.askedBy}`,
      client: fields.agent,
      causation: ids.event(0),
      reason: fields.reason ?? undefined,
    },
  };
  const command = approving.parse(fields.input);
  // The declaration demands a reason since the agent asked, which nobody else can give.
  if (fields.reason === null && approving.needsReason(command)) throw new Rejection('request_outdated');
  const planned = await plan(command, { caller: asker, approver: sent.caller, execution });
  const created = planned.isCreation ? ids.aggregate(attempt) : undefined;
  const target = targetOf(planned, created);
  const { decider, stream, prepare } = target;
  const basis = planned.isCreation
    ? { state: decider.initial, version: NO_STREAM }
    : await states.load(decider, stream);
  const decided = await Promise.resolve(basis.state)
    .then(target.decide)
    .catch(async (error: unknown) => {
      const alone = await plan(command, { caller: asker, execution });
      const refusal = await Promise.resolve(basis.state)
        .then(targetOf(alone, created).decide)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      const isOfAsker = isLackOfRight(refusal) && basis.state.status !== 'ended';
      throw isOfAsker ? new Rejection('asker_not_allowed', {}, { cause: error }) : error;
    });
  const wanted = given.targetVersion ?? fields.targetVersion;
  if (!planned.isCreation && wanted !== null && wanted !== basis.version)
    throw new Rejection('version_mismatch', { version: basis.version });
  const own: Other = {
    ...{ decider, stream, version: basis.version, events: decided.events },
    ...(prepare !== undefined && { prepare: prepare as NonNullable<Other['prepare']> }),
    metadata: execution.metadata,
  };
  return {
    events: [],
    path: created === undefined ? fields.target : `${fields.target}/${created}`,
    reads: [read, ...(decided.reads ?? [])],
    others: [
      ...(decided.events.length === 0 ? [] : [own]),
      ...(decided.others ?? []).map((other) => ({ ...other, metadata: execution.metadata })),
    ],
  };
};

const targetOf = (plan: Plan, id: number | undefined): Target =>
  plan.isCreation ? plan.targetOf(id as number) : plan.target;

/** An item that somebody may not read is absent to them. */
const isLackOfRight = (error: unknown): boolean =>
  error instanceof Rejection && (error.code === 'forbidden' || error.code.endsWith('_not_found'));

/** The user of the agent with the present role, whose stream must not change until the append. */
const askerOf = async (
  { domain, states, pool }: Approving,
  { askedBy }: RequestFields,
): Promise<{ readonly asker: Caller; readonly read: ReadAt }> => {
  const stream = userStream(askedBy);
  const known = await states.load<AggregateState, never>(usersOf(domain), stream);
  const profile = profileOf(known.state);
  if (profile === undefined) throw new Rejection('user_deleted');
  if (await isDeactivated(pool, askedBy)) throw new Rejection('asker_not_allowed');
  const policy = policyOf(domain);
  return {
    asker: {
      ...{ kind: 'user', policy, userId: askedBy, role: profile.role, client: null },
      // The scopes of the agent counted when it asked.
      scopes: new Set(policy.scopes),
      ...attributesIn(domain, known.state),
    },
    read: { stream, version: known.version },
  };
};

const attributesIn = (domain: Domain, state: AggregateState): { readonly attributes?: Attributes } => {
  const asked = attributesOf(domain);
  if (asked.length === 0 || state.status !== 'present') return {};
  const { fields } = state;
  return {
    attributes: Object.fromEntries(
      asked.map(({ name }) => [name, (fields[name] ?? null) as Attributes[string]]),
    ),
  };
};

/** The approval is decided beside its command. */
const joined = (approval: Decision<unknown>, command: DecidedCommand) => ({
  reads: [...(approval.reads ?? []), ...(command.reads ?? [])],
  others: [...(approval.others ?? []), ...(command.others ?? [])],
});

const withResult = (events: readonly AnnalsEvent[], result: string): readonly AnnalsEvent[] =>
  events.map((event) => ({ ...event, data: { ...event.data, result } }) as unknown as AnnalsEvent);
