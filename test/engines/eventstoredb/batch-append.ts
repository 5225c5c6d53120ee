import { setTimeout as wait } from 'node:timers/promises';
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { refusalByAccess } from './access.ts';
import {
  accessDeniedAnswer,
  addressed,
  appendedAnswer,
  type BatchAnswer,
  badRequestAnswer,
  batchAnswerOf,
  expectedInBatch,
  malformationOf,
  newEventIn,
  notNowAnswer,
  structured,
  timeoutAnswer,
  tooLargeAnswer,
} from './append-wire.ts';
import type { Engine } from './engine.ts';
import type { AppendFault } from './faults.ts';
import type { AppendOutcome } from './log.ts';
import { refuseTooLarge } from './message-limit.ts';
import { refusalByOthers, takesAppends } from './node.ts';
import { excessOf, type Product } from './product.ts';
import type { ExpectedRevision, NewEvent } from './records.ts';
import { unavailable } from './refusals.ts';
import { streamNameIn } from './wire.ts';

type Call = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;
type Append = {
  readonly correlationId: UUID;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly deadlineMs: number;
  readonly events: NewEvent[];
};

/** After this time the real server times out an append that it had already refused, and answers again. */
const SECOND_ANSWER_MS = 2_000;

/** One call carries all appends of a client; correlation ids match answers to requests. */
export const batchAppend = (engine: Engine) => (call: Call) => {
  const unfinished = new Map<string, Append>();
  engine.appendCalls.count += 1;
  call.on('data', (request: BatchAppendReq) =>
    engine.gate.pass(() => {
      if (refuseTooLarge(call, request)) return;
      const append = gather(unfinished, request, engine.product);
      if (append) void handle(engine, call, append);
    }),
  );
  call.on('end', () => call.end());
};

/** A large append comes in parts; only the first has options. */
const gather = (
  unfinished: Map<string, Append>,
  request: BatchAppendReq,
  product: Product,
): Append | undefined => {
  const correlationId = request.getCorrelationId();
  if (!correlationId) return undefined;
  const options = request.getOptions();
  const append = options ? begun(correlationId, options) : unfinished.get(correlationId.getString());
  if (!append) return undefined;
  // Beyond the limit an append is refused in any case, so the rest is not kept.
  if (!excessOf(product, append.events))
    append.events.push(...request.getProposedMessagesList().map(newEventIn));
  if (!request.getIsFinal()) {
    unfinished.set(correlationId.getString(), append);
    return undefined;
  }
  unfinished.delete(correlationId.getString());
  return append;
};

const begun = (correlationId: UUID, options: BatchAppendReq.Options): Append => ({
  correlationId,
  stream: streamNameIn(options.getStreamIdentifier()),
  expected: expectedInBatch(options),
  deadlineMs: options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY,
  events: [],
});

const handle = async (engine: Engine, call: Call, append: Append): Promise<void> => {
  const { stream, events } = append;
  const answer = (content: BatchAnswer, id = append.correlationId) =>
    engine.gate.pass(() => {
      if (!call.cancelled && !call.writableEnded) call.write(content(addressed(id, stream)));
    });
  const malformation = malformationOf(stream, events);
  if (malformation !== undefined) {
    answer(badRequestAnswer(malformation));
    if (stream === '') return;
    await wait(SECOND_ANSWER_MS, undefined, { ref: false });
    answer(timeoutAnswer(), structured(append.correlationId));
    return;
  }
  const excess = excessOf(engine.product, events);
  if (excess) return answer(tooLargeAnswer(excess));
  // A request that waited in a stopped server is past its deadline when the server resumes: refused, not
  // stored.
  if (append.deadlineMs < Date.now()) return answer(timeoutAnswer());
  const denied = refusalByAccess(engine.secure?.users, call.metadata, { to: 'append' });
  if (denied?.code === status.UNAUTHENTICATED) return void call.emit('error', denied);
  if (denied) return answer(accessDeniedAnswer());
  const refusal = refusalByOthers(engine, call.metadata);
  // The end of the call names the leader; any other refusal is an answer.
  if (refusal?.code === status.NOT_FOUND) return void call.emit('error', refusal);
  if (refusal?.code === status.UNKNOWN) return answer(notNowAnswer('No leader info available in response'));
  if (!takesAppends(engine)) return answer(notNowAnswer('Server Is Not Ready'));
  const fault = engine.faults.takeAppend(stream);
  if (fault) return injected(engine, call, append, { fault, answer });
  answer(batchAnswerOf(await stored(engine, append), stream, append.expected));
};

const stored = async ({ log }: Engine, { stream, expected, events }: Append): Promise<AppendOutcome> => {
  const outcome = log.append(stream, expected, events);
  await log.settled();
  return outcome;
};

type Injection = { readonly fault: AppendFault; readonly answer: (content: BatchAnswer) => void };

const injected = async (
  engine: Engine,
  call: Call,
  append: Append,
  { fault, answer }: Injection,
): Promise<void> => {
  const stores = !('stored' in fault) ? !['access-denied', 'not-now'].includes(fault.kind) : fault.stored;
  const outcome = stores ? await stored(engine, append) : undefined;
  const content = outcome && batchAnswerOf(outcome, append.stream, append.expected);
  switch (fault.kind) {
    case 'unanswered':
      return;
    case 'answered-twice':
      if (content) answer(content);
      if (content) answer(content);
      return;
    case 'without-position':
      if (outcome?.outcome === 'appended') answer(appendedAnswer(outcome.revision, undefined));
      else if (content) answer(content);
      return;
    case 'timeout':
      return answer(timeoutAnswer());
    case 'delayed':
      await wait(fault.delayMs, undefined, { ref: false });
      if (content) answer(content);
      return;
    case 'stream-error':
      call.emit('error', unavailable());
      return;
    case 'not-now':
      return answer(notNowAnswer(fault.says));
    case 'stored-and-refused':
      return answer(
        batchAnswerOf({ outcome: 'wrong-revision', current: 0n }, append.stream, append.expected),
      );
    case 'access-denied':
      return answer(accessDeniedAnswer());
  }
};
