import { setTimeout as wait } from 'node:timers/promises';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import { callAnswerOf, callSuccess, expectedInCall, malformationOf, newEventIn } from './append-wire.ts';
import type { Engine } from './engine.ts';
import { refuseTooLarge } from './message-limit.ts';
import { refuseOthers, takesAppends } from './node.ts';
import { excessOf } from './product.ts';
import type { ExpectedRevision, NewEvent } from './records.ts';
import {
  accessDenied,
  appendTooLarge,
  badRequest,
  deadlineExceeded,
  notNow,
  streamDeleted,
  unavailable,
} from './refusals.ts';
import { streamNameIn } from './wire.ts';

type Append = {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
};
type Answer = AppendResp | 'none';

/** The older method, one call per append, which the client uses with credentials. */
export const append =
  (engine: Engine) =>
  (call: ServerReadableStream<AppendReq, AppendResp>, respond: sendUnaryData<AppendResp>) => {
    let options: AppendReq.Options | undefined;
    const events: NewEvent[] = [];
    let isRefused = false;
    call.on('data', (request: AppendReq) => {
      isRefused ||= refuseTooLarge(call, request);
      options ??= request.getOptions();
      const message = request.getProposedMessage();
      if (message && !excessOf(engine.product, events)) events.push(newEventIn(message));
    });
    const finish = async () => {
      if (!options) throw badRequest('The first message of an append has options.');
      refuseOthers(engine, call.metadata);
      return answerTo(engine, {
        stream: streamNameIn(options.getStreamIdentifier()),
        expected: expectedInCall(options),
        events,
      });
    };
    const answered = (answer: Answer) =>
      engine.gate.pass(() => {
        if (answer !== 'none' && !call.cancelled) respond(null, answer);
      });
    call.on('end', () => {
      if (!isRefused) engine.gate.pass(() => void finish().then(answered, respond));
    });
  };

const answerTo = async (engine: Engine, { stream, expected, events }: Append): Promise<Answer> => {
  const malformation = malformationOf(stream, events);
  if (malformation !== undefined) throw badRequest(malformation);
  const excess = excessOf(engine.product, events);
  if (excess) throw appendTooLarge(excess);
  if (!takesAppends(engine)) throw notNow('Server Is Not Ready');
  const fault = engine.faults.takeAppend(stream);
  if (fault?.kind === 'not-now') throw notNow(fault.says);
  if (fault?.kind === 'access-denied') throw accessDenied();
  const stores = !fault || !('stored' in fault) || fault.stored;
  const outcome = stores ? engine.log.append(stream, expected, events) : undefined;
  await engine.log.settled();
  if (fault?.kind === 'timeout') throw deadlineExceeded();
  if (fault?.kind === 'stream-error') throw unavailable();
  if (fault?.kind === 'delayed') await wait(fault.delayMs, undefined, { ref: false });
  if (!outcome || fault?.kind === 'unanswered') return 'none';
  if (outcome.outcome === 'deleted') throw streamDeleted(stream);
  if (fault?.kind === 'without-position' && outcome.outcome === 'appended')
    return new streams.AppendResp().setSuccess(callSuccess(outcome.revision, undefined));
  return callAnswerOf(outcome, expected);
};
