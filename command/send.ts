import { contextOf, parseSent } from '#edge/command-gateway/wire.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { recordedOnly } from '#kernel/base/traceparent.ts';
import { agentRequestsOf } from '#kernel/registry/confirms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import {
  type CommandContext,
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { LogUnavailable, LogWentBack } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { cursorAt } from '#shared/event-log/own-cursor.ts';
import { shareRetryBudget } from '#shared/event-log/request-deadline.ts';
import { actorOf, type Caller, isOfAuditor } from '#shared/policy.ts';
import { Histogram, type Registry } from '#shared/prometheus.ts';
import { errorTypeOf, type Tracing } from '#shared/tracing/tracing.ts';
import { freshIds } from './handling/execution-context.ts';
import type { AnyHandler, Outcome } from './handling/handler.ts';
import type { Idempotency } from './idempotency.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly log: EventLog;
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly idempotency: Idempotency;
  readonly newId: () => number;
  readonly metrics: Registry;
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
};

/** The gateway of the command side: every command ends up here. */
export const createSender = (dependencies: Dependencies): CommandGateway => {
  const observe = observeCommands(dependencies.metrics);
  const observed: CommandGateway['send'] = (command, context) =>
    observe(command.type, () =>
      shareRetryBudget(dependencies.clock, () => send(dependencies, command, context)),
    );
  return { send: traceCommands(dependencies.tracing, observed) };
};

const send = async (
  dependencies: Dependencies,
  given: Command,
  { caller, trace, ...rest }: CommandContext,
): Promise<CommandResult> => {
  const { command, ...sent } = parseSent(dependencies.domain, { command: given, ...rest });
  const context = { ...contextOf(sent, caller), trace };
  const handler = dependencies.handlers[command.type];
  if (handler === undefined) throw new Error(`${command.type} has no handler`);
  const admission = handler.admit(caller);
  if (admission !== 'allowed') throw admission;
  // No right of a command is theirs; this also holds for a handler that asks for none.
  if (isOfAuditor(caller)) throw new Rejection('forbidden');
  if (context.reason === undefined && !MACHINES.has(caller.kind) && handler.needsReason?.(command))
    throw new Rejection('reason_required');
  const outcome = await execute(dependencies, { handler, command, context }).catch(reportUnknown);
  if (outcome.isRequest) throw confirmationRequired(dependencies.domain, outcome);
  const revealed = await handler.reveal?.(outcome).catch(reportUnknown);
  const { id, version, position, isRepeat } = outcome;
  const repeated = context.content !== undefined && isRepeat && { isRepeat };
  return { id, version, cursor: cursorAt(dependencies.log, position), ...revealed, ...repeated };
};

/** Timers, reactions and messages of services: their cause is recorded in place of a reason. */
const MACHINES: ReadonlySet<Caller['kind']> = new Set(['system', 'sender']);

/** The request is recorded; the caller can read it, and what becomes of it. */
const confirmationRequired = (domain: Domain, { id }: Outcome): Rejection => {
  const path = agentRequestsOf(domain)?.path ?? '';
  return new Rejection('confirmation_required', { request: id, href: `/${path}/${id}` });
};

const reportUnknown = (error: unknown): never => {
  if (error instanceof LogWentBack)
    throw new CommandUnavailable('the event log has lost events', { cause: error });
  if (error instanceof LogUnavailable)
    throw new CommandUnavailable('the event log did not answer', { cause: error });
  throw error;
};

type Admitted = { readonly handler: AnyHandler; readonly command: Command; readonly context: CommandContext };

const execute = (
  { idempotency, newId, clock }: Dependencies,
  { handler, command, context }: Admitted,
): Promise<Outcome> => {
  const {
    caller,
    idempotencyKey,
    content: asked = command,
    ifVersion,
    unlessVersion,
    reason,
    signature,
  } = context;
  const metadata = metadataOf(context, clock);
  if (idempotencyKey === undefined) {
    const execution = {
      metadata,
      ids: freshIds(newId),
      ifVersion,
      unlessVersion,
      signature,
      mayBeRepeatAfter: undefined,
    };
    return handler.handle(command, { caller, execution });
  }
  const content = {
    command: asked,
    ifVersion: ifVersion ?? null,
    ...(unlessVersion !== undefined && { unlessVersion }),
    ...(reason !== undefined && { reason }),
  };
  const isLasting = caller.kind === 'sender';
  const keyed = { client: ownerOfKeys(caller), key: idempotencyKey, content, metadata, isLasting };
  return idempotency(keyed, (ids, mayBeRepeatAfter) =>
    handler.handle(command, {
      caller,
      execution: { metadata, ids, ifVersion, unlessVersion, signature, mayBeRepeatAfter },
    }),
  );
};

const metadataOf = (
  { caller, requestId, correlationId = requestId, causationId, trace, reason }: CommandContext,
  clock: Clock,
): MetadataContext => ({
  at: new Date(clock.nowMs()).toISOString(),
  actor: actorOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  request: requestId,
  correlation: correlationId,
  causation: causationId ?? null,
  trace: recordedOnly(trace),
  reason,
});

/** Two users of one client, and one user with two clients, have separate keys. */
const ownerOfKeys = (caller: Caller): string =>
  caller.kind === 'user' ? `${actorOf(caller)} ${caller.client}` : actorOf(caller);

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Measures every command by type and result: success, the code of its refusal, or failure. */
const observeCommands = (
  registry: Registry,
): (<Answer>(type: string, handle: () => Promise<Answer>) => Promise<Answer>) => {
  const duration = new Histogram({
    name: 'annals_command_duration_seconds',
    help: 'The time from receiving a command to its durable append, or to its refusal.',
    labelNames: ['type', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  return async (type, handle) => {
    const end = duration.startTimer({ type });
    try {
      const answer = await handle();
      end({ outcome: 'done' });
      return answer;
    } catch (error) {
      end({ outcome: error instanceof Rejection ? error.code : 'failed' });
      throw error;
    }
  };
};

type Send = CommandGateway['send'];

/** Traces every command by type and result; its events follow from the span. */
const traceCommands = (tracing: Tracing | undefined, send: Send): Send => {
  if (!tracing?.isOn) return send;
  return async (command, context) => {
    const { type } = command;
    const span = tracing.start(`command ${type}`, {
      parent: context.trace,
      attributes: { 'annals.command.type': type },
    });
    try {
      const result = await send(command, { ...context, trace: span.traceparent });
      span.set({ 'annals.outcome': 'done', 'annals.id': result.id, 'annals.version': result.version });
      return result;
    } catch (error) {
      span.set({ 'annals.outcome': error instanceof Rejection ? error.code : 'failed' });
      // A refusal is a response, not a failure.
      if (!(error instanceof Rejection)) span.fail(errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  };
};
