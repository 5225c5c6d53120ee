import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { readTypedBody } from '#edge/http/json-body.ts';
import { problemOf } from '#edge/http/problem.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Command } from '#kernel/decide/decide.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { SenderInfo } from '#kernel/registry/sender-info.ts';
import { typesTaken } from '#kernel/sender/operation.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway, CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { policyOf, senderCaller } from '#shared/policy.ts';
import { commandOf, MappingFailed } from './command-of.ts';
import type { Arrival, noteReceipts } from './receipts.ts';
import { Unverified, type Verified, type Verify } from './signatures/verifier.ts';

export type ReceiveDependencies = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  readonly note: ReturnType<typeof noteReceipts>;
  /** Charges the sender; throws if it sends more than its limit. */
  readonly charge: (sender: string) => Promise<void>;
};

/** Receives the messages of one sender: reads, verifies, maps, and sends the command. */
export const receiving = (
  dependencies: ReceiveDependencies,
  sender: SenderInfo,
  verify: Verify,
): readonly (RequestHandler | ErrorRequestHandler)[] => {
  const { domain, gateway, note } = dependencies;
  const caller = senderCaller(policyOf(domain), sender);
  const verifiedOf = new WeakMap<Request, Verified>();
  const receive = async (request: Request, response: Response): Promise<void> => {
    const verified = await verifiedBy(dependencies, verify, request);
    verifiedOf.set(request, verified);
    await dependencies.charge(sender.name);
    const command = await commandFor(domain, sender, verified);
    const answer =
      command === undefined
        ? ({ outcome: 'ignored' } as const)
        : await gateway
            .send(command, {
              caller,
              requestId: requestIdOf(request),
              trace: traceparentOf(request),
              idempotencyKey: verified.id,
              content: digestOf(command),
            })
            .then(answerOf, (error: unknown) => acknowledged(sender, error));
    note({ sender: sender.name, ...answer, ...factsOf(verified) }, arrivalOf(request));
    const { cursor, reason: _, ...body } = { cursor: undefined, reason: undefined, ...answer };
    if (cursor !== undefined) response.set('Consistency-Token', cursor);
    response.set('Cache-Control', 'no-store').json(body);
  };
  /** Also of bodies that were never read. */
  const refuse: ErrorRequestHandler = (error, request, _response, next) => {
    const refused = refusalOf(error);
    const { body } = problemOf(refused);
    const err = error instanceof MappingFailed ? error.cause : undefined;
    const reason = { reason: body.detail ?? body.title, ...(err !== undefined && { err }) };
    const facts = factsOf(verifiedOf.get(request));
    note({ sender: sender.name, outcome: body.code, ...reason, ...facts }, arrivalOf(request));
    next(refused);
  };
  return [...readTypedBody(dependencies.bodyBytesMax, typesTaken(sender.signature)), receive, refuse];
};

const LENGTH = /^\d{1,15}$/;

const arrivalOf = (request: Request): Arrival => {
  const { body, headers } = request;
  const { 'content-length': length = '' } = headers;
  const requestId = requestIdOf(request);
  return Buffer.isBuffer(body)
    ? { requestId, bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') }
    : { requestId, bytes: LENGTH.test(length) ? Number(length) : null, sha256: null };
};

const factsOf = (verified: Verified | undefined) =>
  verified === undefined ? {} : { messageId: verified.id, messageType: verified.types[0] };

const verifiedBy = async (
  { clock }: ReceiveDependencies,
  verify: Verify,
  request: Request,
): Promise<Verified> => {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  try {
    return await verify({ headers: request.headers, body, nowMs: clock.nowMs() });
  } catch (error) {
    if (!(error instanceof Unverified)) throw error;
    throw new HttpProblem('invalid_signature', { detail: error.message, cause: error });
  }
};

const commandFor = async (
  domain: Domain,
  { on }: SenderInfo,
  { id, types, payload }: Verified,
): Promise<Command | undefined> => {
  const type = types.find((each) => Object.hasOwn(on, each));
  const message = type === undefined ? undefined : on[type];
  return type === undefined || message === undefined
    ? undefined
    : commandOf(domain, { message, payload, facts: { id, type } });
};

/** A retry must lead to the same command. The rest of its body may differ, such as the count of deliveries. */
const digestOf = (command: Command): string => {
  const hash = createHash('sha256');
  try {
    hash.update(canonicalize(command) ?? '');
  } catch (cause) {
    // A number that JSON does not have, such as NaN.
    throw new MappingFailed('The domain made a command of this message that has an invalid value.', {
      cause,
    });
  }
  return hash.digest('base64url');
};

const answerOf = ({ id, cursor, isRepeat }: CommandResult) => ({
  outcome: isRepeat ? ('repeated' as const) : ('done' as const),
  id,
  cursor,
});

/** A refusal by the state of an item, for a sender that should not retry. */
const acknowledged = ({ acknowledgesRefusals }: SenderInfo, error: unknown) => {
  const isOfState =
    error instanceof Rejection && !PASSING.has(error.code) && OF_STATE.has(problemOf(error).status);
  if (!acknowledgesRefusals || !isOfState) throw error;
  return { outcome: 'refused' as const, code: error.code, title: error.message, reason: error.message };
};

const OF_STATE: ReadonlySet<number> = new Set([404, 409]);
const RETRY_AFTER_SECONDS = '5';

/** Another delivery of the message is being carried out, or its item changes too often. */
const PASSING: ReadonlySet<string> = new Set(['idempotency_key_in_use', 'conflict']);

/** The sender should retry after a passing refusal, so it gets a status after which it does. */
const refusalOf = (error: unknown): unknown => {
  if (!(error instanceof Rejection)) return error;
  if (PASSING.has(error.code))
    return new HttpProblem('unavailable', {
      detail: error.message,
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
      cause: error,
    });
  return error.code === 'idempotency_key_reused'
    ? new Rejection(error.code, error.details, {
        says: 'Another message with this id was received before: give each message an id of its own.',
        cause: error,
      })
    : error;
};
