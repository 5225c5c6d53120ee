import type { Registry } from 'prom-client';
import { membershipsOf } from '#kernel/decide/memberships.ts';
import { agentRequestsOf } from '#kernel/registry/confirms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { hasSigned } from '#kernel/registry/signed.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { idStepOf } from '#shared/id-time.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { aggregateHandlers } from './aggregates/handle.ts';
import { startCoverRemover } from './cover-remover/cover-remover.ts';
import { openDecisions } from './decisions.ts';
import { catchUpWithErasures } from './erasure/erasures.ts';
import type { AnyHandler, HandlerDependencies, WebhookRules } from './handling/handler.ts';
import type { createIdempotency, Idempotency } from './idempotency.ts';
import type { CommandPart } from './part.ts';
import { startProcessManager } from './process-manager/process-manager.ts';
import { createSender } from './send.ts';
import { userRules } from './users/rules.ts';

/** The dependencies of the command side; the caller owns them, and they outlive the service. */
type CommandDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly masterKey: MasterKey;
  /** Outside the database, because that may be restored to a time before an erasure. */
  readonly erasures: ErasureList;
  /** The storage of uploads, which are removed with their aggregates. */
  readonly blobs: Pick<Blobs, 'remove'>;
  readonly log: Log;
  readonly metrics: Registry;
  /** Off by default. */
  readonly tracing?: Tracing;
  /** The number of this installation among cells, which its new ids contain. */
  readonly cell?: number | undefined;
  /** By default, only addresses on the public Internet are allowed. */
  readonly webhooks?: WebhookRules;
  readonly clock: Clock;
  /** Where persons sign commands with `signed`. */
  readonly issuerUrl?: string;
  /** Whether this process also executes consequences of events; otherwise another process does. */
  readonly follows?: boolean;
};

const WEBHOOK_RULES: WebhookRules = { guard: { allowed: [], ports: new Set([80, 443]) }, perOwnerMax: 50 };

/**
 * Starts the command side: decides and appends commands, those of the domain and of the parts, and executes the
 * consequences of events.
 */
export const startCommandService = async (
  dependencies: CommandDependencies,
  parts: readonly CommandPart[],
): Promise<CommandGateway & AsyncDisposable> => {
  const { domain, pool, eventLog, masterKey, metrics, tracing, clock } = dependencies;
  const { webhooks = WEBHOOK_RULES, follows = true, cell } = dependencies;
  const { base, newId, executor, limits, administrators } = await openDecisions(dependencies);
  const { codec, states } = base;
  const idempotency = repeatingOnce({
    ...base,
    newId,
    idStep: idStepOf(cell),
    digestKey: deriveKey(masterKey, 'command-digest'),
  });
  const own = { ...base, executor, limits, administrators, pool, webhooks };
  const handlers = await signedHandlersOf(dependencies, own, parts);
  const sender = createSender({
    domain,
    log: eventLog,
    handlers,
    idempotency,
    newId,
    metrics,
    tracing,
    clock,
  });
  if (!follows) return { send: sender.send, [Symbol.asyncDispose]: async () => {} };
  const followers = await startFollowers(dependencies, { codec, executor, limits, states, sender });
  return { send: sender.send, [Symbol.asyncDispose]: () => followers[Symbol.asyncDispose]() };
};

/** Its code is loaded with the first request that has a key. */
const repeatingOnce = (dependencies: Parameters<typeof createIdempotency>[0]): Idempotency => {
  const loaded = whenAsked(async () => (await import('./idempotency.ts')).createIdempotency(dependencies));
  return async (...given) => (await loaded())(...given);
};

type Decision = Pick<HandlerDependencies, 'executor' | 'limits' | 'states'> & {
  readonly codec: Codec;
  readonly sender: CommandGateway;
};

/** Starts the parts that react to events, and executes erasures that a restored database has lost. */
const startFollowers = async (
  dependencies: CommandDependencies,
  { codec, executor, limits, states, sender }: Decision,
): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, keys, erasures, blobs, log, metrics, tracing, clock, cell } = dependencies;
  const memberships = membershipsOf(domain);
  await using opening = new AsyncDisposableStack();
  opening.use(
    await startProcessManager({
      ...{ domain, memberships, pool, eventLog, log, metrics, codec, keys, erasures, tracing },
      ...{ executor, limits, states, clock, cell },
    }),
  );
  opening.use(await startCoverRemover({ domain, pool, eventLog, log, metrics, clock, blobs }));
  await catchUpWithErasures({ domain, pool, erasures, gateway: sender, log });
  return opening.move();
};

/** Requests of agents and signatures are rare: a domain without them loads neither. */
const signedHandlersOf = async (
  { domain, pool, masterKey, clock, issuerUrl = '' }: CommandDependencies,
  own: HandlerDependencies,
  parts: readonly CommandPart[],
): Promise<Handlers> => {
  const requests = agentRequestsOf(domain);
  const over = async (executor: HandlerDependencies['executor']): Promise<Handlers> => {
    const all = { ...own, executor };
    return requests === undefined
      ? handlersOf(all, parts)
      : (await import('./confirm/confirm.ts')).confirming(requests, all, handlersOf(all, parts));
  };
  const handlers = await over(own.executor);
  if (!hasSigned(domain)) return handlers;
  const [{ signing }, { createSignatures }] = await Promise.all([
    import('./signatures/sign.ts'),
    import('#shared/signatures/signatures.ts'),
  ]);
  const signatures = createSignatures({ pool, masterKey, clock });
  return signing({ ...own, signatures, issuerUrl, handlersOver: over }, handlers);
};

type Handlers = Readonly<Record<string, AnyHandler>>;

const handlersOf = (dependencies: HandlerDependencies, parts: readonly CommandPart[]): Handlers =>
  Object.assign(
    {},
    ...parts.map((part) => part.handlersOf?.(dependencies)),
    aggregateHandlers({ ...dependencies, rules: { user: userRules(dependencies) } }),
  );
