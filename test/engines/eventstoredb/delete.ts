import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { expectedInCall } from './append-wire.ts';
import type { Engine } from './engine.ts';
import { badRequest, deletionRefused, streamDeleted } from './refusals.ts';
import { streamNameIn } from './wire.ts';

/** A soft deletion: the stream reads as missing and may be recreated. */
export const deleteStream =
  (engine: Engine) => (call: ServerUnaryCall<DeleteReq, DeleteResp>, respond: sendUnaryData<DeleteResp>) =>
    engine.gate.pass(
      () =>
        void removed(engine, call.request, 'delete').then((position) => {
          const written = new streams.DeleteResp.Position()
            .setCommitPosition(position)
            .setPreparePosition(position);
          respond(null, new streams.DeleteResp().setPosition(written));
        }, respond),
    );

/** Permanent: the stream can never be appended to or read again. */
export const tombstoneStream =
  (engine: Engine) =>
  (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, respond: sendUnaryData<TombstoneResp>) =>
    engine.gate.pass(
      () =>
        void removed(engine, call.request, 'tombstone').then((position) => {
          const written = new streams.TombstoneResp.Position()
            .setCommitPosition(position)
            .setPreparePosition(position);
          respond(null, new streams.TombstoneResp().setPosition(written));
        }, respond),
    );

const removed = async (
  { log }: Engine,
  request: DeleteReq | TombstoneReq,
  how: 'delete' | 'tombstone',
): Promise<string> => {
  const options = request.getOptions();
  if (!options) throw badRequest('A deletion has options.');
  const stream = streamNameIn(options.getStreamIdentifier());
  const expected = expectedInCall(options);
  const outcome = log.remove(stream, expected, how);
  await log.settled();
  switch (outcome.outcome) {
    case 'appended':
      return `${outcome.position}`;
    case 'wrong-revision':
      throw deletionRefused(stream, expected, outcome.current);
    case 'deleted':
      throw streamDeleted(stream);
  }
};
