import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import rpc from '@eventstore/db-client/generated/status_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import type { NotNow } from './faults.ts';
import type { AppendOutcome } from './log.ts';
import type { Excess } from './product.ts';
import type { ExpectedRevision, NewEvent } from './records.ts';
import { streamIdentifier } from './wire.ts';

type Expectation = { hasNoStream(): boolean; hasAny(): boolean; hasStreamExists(): boolean };

const expectedIn = (options: Expectation, revision: string): ExpectedRevision => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : BigInt(revision);
};

export const expectedInBatch = (options: BatchAppendReq.Options): ExpectedRevision =>
  expectedIn(options, options.getStreamPosition());
export const expectedInCall = (options: AppendReq.Options | DeleteReq.Options): ExpectedRevision =>
  expectedIn(options, options.getRevision());

export const newEventIn = (
  message: BatchAppendReq.ProposedMessage | AppendReq.ProposedMessage,
): NewEvent => ({
  id: message.getId()?.getString().toLowerCase() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? 'application/octet-stream',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The server's error for an invalid append, before it reads the log, in its own words. */
export const malformationOf = (stream: string, events: readonly NewEvent[]): string | undefined => {
  if (stream === '') return "Value cannot be null. (Parameter 'value')";
  if (events.some((event) => !UUID_FORM.test(event.id))) return 'Unrecognized Guid format.';
  if (events.some((event) => event.type === '')) return "Empty eventType provided. (Parameter 'eventType')";
  return undefined;
};

/** The answer of BatchAppend, before it is addressed to its request. */
export type BatchAnswer = (answer: BatchAppendResp) => BatchAppendResp;

export const batchAnswerOf = (
  outcome: AppendOutcome,
  stream: string,
  expected: ExpectedRevision,
): BatchAnswer => {
  switch (outcome.outcome) {
    case 'appended':
      return appendedAnswer(outcome.revision, outcome.position);
    case 'wrong-revision':
      return refusal(
        status.ALREADY_EXISTS,
        'WrongExpectedVersion',
        wrongExpectedVersion(outcome.current, expected).serializeBinary(),
      );
    case 'deleted':
      return refusal(
        status.NOT_FOUND,
        'StreamDeleted',
        new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream)).serializeBinary(),
      );
  }
};

export const appendedAnswer = (revision: bigint, position: number | undefined): BatchAnswer => {
  const success = new streams.BatchAppendResp.Success();
  if (revision < 0n) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(`${revision}`);
  if (position === undefined) success.setNoPosition(new shared.Empty());
  else
    success.setPosition(
      new shared.AllStreamPosition().setCommitPosition(`${position}`).setPreparePosition(`${position}`),
    );
  return (answer) => answer.setSuccess(success);
};

export const timeoutAnswer = (): BatchAnswer =>
  refusal(status.DEADLINE_EXCEEDED, 'Timeout', new Uint8Array());
export const accessDeniedAnswer = (): BatchAnswer =>
  refusal(status.PERMISSION_DENIED, 'AccessDenied', new Uint8Array());
export const badRequestAnswer = (message: string): BatchAnswer =>
  refusal(
    status.INVALID_ARGUMENT,
    'BadRequest',
    new shared.BadRequest().setMessage(message).serializeBinary(),
  );
/** A structured error with empty details. */
export const notNowAnswer =
  (says: NotNow): BatchAnswer =>
  (answer) => {
    const error = statusOf(status.UNAVAILABLE, says, new Uint8Array());
    error.getDetails()?.setTypeUrl('type.googleapis.com/google.protobuf.Empty');
    return answer.setError(error);
  };
export const tooLargeAnswer = (excess: Excess): BatchAnswer =>
  excess.of === 'append'
    ? refusal(
        status.INVALID_ARGUMENT,
        'MaximumAppendSizeExceeded',
        new shared.MaximumAppendSizeExceeded().setMaxappendsize(excess.bytesMax).serializeBinary(),
      )
    : refusal(status.INVALID_ARGUMENT, 'MaximumAppendEventSizeExceeded', eventSizeExceeded(excess));

/** Fields 1 to 3: id, bytes, maximum. The client does not have this message. */
const eventSizeExceeded = ({ id, bytes, bytesMax }: Excess & { of: 'event' }): Uint8Array =>
  Buffer.concat([
    Buffer.from([0x0a, id.length]),
    Buffer.from(id),
    Buffer.from([0x10, ...varint(bytes), 0x18, ...varint(bytesMax)]),
  ]);

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];

const refusal =
  (code: status, name: string, details: Uint8Array): BatchAnswer =>
  (answer) =>
    answer.setError(statusOf(code, name, details));

/**
 * A Status with empty details, as bytes: the class of the details belongs to a package that we do not import.
 */
const STATUS_WITH_DETAILS = Uint8Array.of(0x1a, 0x00);

const statusOf = (code: number, name: string, details: Uint8Array): Status => {
  const answer = rpc.Status.deserializeBinary(STATUS_WITH_DETAILS).setCode(code).setMessage(name);
  answer.getDetails()?.setTypeUrl(`type.googleapis.com/event_store.client.${name}`);
  answer.getDetails()?.setValue(details);
  return answer;
};

const wrongExpectedVersion = (current: bigint, expected: ExpectedRevision) => {
  const details = new shared.WrongExpectedVersion();
  if (current < 0n) details.setCurrentNoStream(new shared.Empty());
  else details.setCurrentStreamRevision(`${current}`);
  if (expected === 'any') return details.setExpectedAny(new shared.Empty());
  if (expected === 'no_stream') return details.setExpectedNoStream(new shared.Empty());
  return expected === 'stream_exists'
    ? details.setExpectedStreamExists(new shared.Empty())
    : details.setExpectedStreamPosition(`${expected}`);
};

export const addressed = (correlationId: UUID, stream: string): BatchAppendResp =>
  new streams.BatchAppendResp().setCorrelationId(correlationId).setStreamIdentifier(streamIdentifier(stream));

/**
 * The other form of an id in the protocol: two signed halves. The second answer to a malformed append uses
 * it.
 */
export const structured = (id: UUID): UUID => {
  const digits = id.getString().replaceAll('-', '');
  const half = (from: number) => `${BigInt.asIntN(64, BigInt(`0x${digits.slice(from, from + 16)}`))}`;
  return new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits(half(0)).setLeastSignificantBits(half(16)),
  );
};

export const callAnswerOf = (outcome: AppendOutcome, expected: ExpectedRevision): AppendResp => {
  if (outcome.outcome === 'appended')
    return new streams.AppendResp().setSuccess(callSuccess(outcome.revision, outcome.position));
  const current = outcome.outcome === 'wrong-revision' ? outcome.current : -1n;
  const refused = new streams.AppendResp.WrongExpectedVersion();
  if (current < 0n) refused.setNoStream2060(new shared.Empty()).setCurrentNoStream(new shared.Empty());
  else refused.setCurrentRevision2060(Number(current)).setCurrentRevision(`${current}`);
  if (expected === 'any') refused.setAny2060(new shared.Empty()).setExpectedAny(new shared.Empty());
  else if (expected === 'no_stream') refused.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists')
    refused.setStreamExists2060(new shared.Empty()).setExpectedStreamExists(new shared.Empty());
  else refused.setExpectedRevision2060(Number(expected)).setExpectedRevision(`${expected}`);
  return new streams.AppendResp().setWrongExpectedVersion(refused);
};

export const callSuccess = (revision: bigint, position: number | undefined): AppendResp.Success => {
  const success = new streams.AppendResp.Success();
  if (revision < 0n) success.setNoStream(new shared.Empty());
  else success.setCurrentRevision(`${revision}`);
  if (position === undefined) return success.setNoPosition(new shared.Empty());
  return success.setPosition(
    new streams.AppendResp.Position().setCommitPosition(`${position}`).setPreparePosition(`${position}`),
  );
};
