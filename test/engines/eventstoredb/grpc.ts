import type { Socket } from 'node:net';
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { Server, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { credentialsOf, demandAccess } from './access.ts';
import { append } from './append.ts';
import { batchAppend } from './batch-append.ts';
import { compressMessages } from './compression.ts';
import { deleteStream, tombstoneStream } from './delete.ts';
import type { Engine } from './engine.ts';
import { limited } from './message-limit.ts';
import { readGossip, refuseOthers } from './node.ts';
import type { Product } from './product.ts';
import { type ReadCall, readOnce } from './read.ts';
import { readRequestIn } from './read-request.ts';
import { subscribe } from './subscribe.ts';
import { supportedMethods } from './wire.ts';

/** The methods of the server, for connections that somebody else accepts. */
export const grpcServerOf = (engine: Engine) => {
  const server = new Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  // Events are encoded once for all readers, so Read writes bytes.
  const read = { ...StreamsService.read, responseSerialize: (bytes: Buffer) => bytes };
  server.addService(
    { ...StreamsService, read, ...limitedAppends(engine.product) },
    {
      read: readOf(engine),
      append: append(engine),
      batchAppend: batchAppend(engine),
      delete: deleteStream(engine),
      tombstone: tombstoneStream(engine),
    },
  );
  server.addService(ServerFeaturesService, {
    getSupportedMethods: (
      _call: ServerUnaryCall<unknown, SupportedMethods>,
      respond: sendUnaryData<SupportedMethods>,
    ) => engine.gate.pass(() => respond(null, supportedMethods(engine.product))),
  });
  server.addService(GossipService, { read: readGossip(engine) });
  const injector = server.createConnectionInjector(credentialsOf(engine.secure));
  if (engine.product.compresses) compressMessages(server);
  const shutdown = () => {
    injector.destroy();
    server.forceShutdown();
  };
  return { injectConnection: (socket: Socket) => injector.injectConnection(socket), shutdown };
};

const limitedAppends = ({ messageBytesMax }: Product) => {
  const { append: single, batchAppend: batch } = StreamsService;
  return {
    append: {
      ...single,
      requestDeserialize: limited(messageBytesMax, single.requestDeserialize, () => new streams.AppendReq()),
    },
    batchAppend: {
      ...batch,
      requestDeserialize: limited(
        messageBytesMax,
        batch.requestDeserialize,
        () => new streams.BatchAppendReq(),
      ),
    },
  };
};

const readOf = (engine: Engine) => (call: ReadCall) =>
  engine.gate.pass(() => {
    const answered = async () => {
      refuseOthers(engine, call.metadata);
      const request = readRequestIn(call.request);
      demandAccess(engine.secure?.users, call.metadata, request.target.stream);
      await (request.isSubscription ? subscribe(engine, call, request) : readOnce(engine, call, request));
    };
    answered().catch((error: unknown) => call.emit('error', error));
  });
