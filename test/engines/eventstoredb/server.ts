import { once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net';
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { append } from './append.ts';
import { batchAppend } from './batch-append.ts';
import { deleteStream, tombstoneStream } from './delete.ts';
import type { Engine, SubscriptionEnd } from './engine.ts';
import { type Faults, newFaults } from './faults.ts';
import { newGate } from './gate.ts';
import { openJournal } from './journal.ts';
import { openLog } from './log.ts';
import { type NodeState, readGossip } from './node.ts';
import { type ReadCall, readOnce } from './read.ts';
import { readRequestIn } from './read-request.ts';
import { subscribe } from './subscribe.ts';
import { supportedMethods } from './wire.ts';

export type StandInOptions = {
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** The file that keeps the log over the end of the process; without one it lives in memory. */
  readonly journal?: string;
  /** How many messages a live subscription may lag behind before it is dropped as too slow. */
  readonly liveLagMax?: number;
};

export type EventStoreStandIn = AsyncDisposable & {
  readonly port: number;
  readonly address: string;
  readonly faults: Faults;
  /** As if killed: connections are reset at once, the port refuses; what was stored stays. */
  stop(): Promise<void>;
  /** On the same port with the same log; stops first where that was not done. */
  restart(): Promise<void>;
  /** Resets every connection at once and goes on listening. Answers how many there were. */
  dropConnections(): number;
  /** Nothing is taken in or answered until `resume`, as if the process had been stopped; pings are answered, though. */
  pause(): void;
  resume(): void;
  /** From now on its gossip says this state, and it takes appends or not as such a node does. */
  become(state: NodeState): void;
  /** How many calls that carry appends were begun: each client has one. */
  appendCalls(): number;
  liveSubscriptions(): number;
  /** Ends every live subscription at once. Answers how many there were. */
  endSubscriptions(how: SubscriptionEnd): number;
};

const LIVE_LAG_MAX = 256;
const MESSAGE_BYTES_MAX = 17 * 1_048_576;

/** An EventStoreDB for tests, held to what a real one answered, with faults to order. */
export const startEventStoreStandIn = async ({
  port = 0,
  journal,
  liveLagMax = LIVE_LAG_MAX,
}: StandInOptions = {}): Promise<EventStoreStandIn> => {
  const log = openLog(journal === undefined ? undefined : await openJournal(journal));
  await log.settled();
  const fresh = { faults: newFaults(), gate: newGate(), node: { state: 'leader' as const }, appendCalls: { count: 0 } };
  const engine: Engine = { log, ...fresh, liveSubscriptions: new Set(), liveLagMax };
  const grpc = grpcServerOf(engine, () => bound);
  const entrance = entranceTo(grpc.injectConnection);
  const bound = await entrance.open(port);
  return {
    port: bound,
    address: `esdb://127.0.0.1:${bound}?tls=false`,
    faults: engine.faults,
    stop: entrance.close,
    async restart() {
      await entrance.close();
      await entrance.open(bound);
    },
    dropConnections: entrance.drop,
    pause: engine.gate.close,
    resume: engine.gate.open,
    become(state) {
      engine.node.state = state;
    },
    appendCalls: () => engine.appendCalls.count,
    liveSubscriptions: () => engine.liveSubscriptions.size,
    endSubscriptions(how) {
      const ended = [...engine.liveSubscriptions];
      for (const subscription of ended) subscription.end(how);
      return ended.length;
    },
    async [Symbol.asyncDispose]() {
      await entrance.close();
      grpc.shutdown();
      await log.close();
    },
  };
};

const grpcServerOf = (engine: Engine, port: () => number) => {
  const server = new Server({ 'grpc.max_receive_message_length': MESSAGE_BYTES_MAX, 'grpc.max_send_message_length': -1 });
  // Events are encoded once for all readers, so what Read writes are bytes already.
  const read = { ...StreamsService.read, responseSerialize: (bytes: Buffer) => bytes };
  server.addService(
    { ...StreamsService, read },
    {
      read: readOf(engine),
      append: append(engine),
      batchAppend: batchAppend(engine),
      delete: deleteStream(engine),
      tombstone: tombstoneStream(engine),
    },
  );
  server.addService(ServerFeaturesService, {
    getSupportedMethods: (_call: ServerUnaryCall<unknown, SupportedMethods>, respond: sendUnaryData<SupportedMethods>) =>
      engine.gate.pass(() => respond(null, supportedMethods())),
  });
  server.addService(GossipService, { read: readGossip(engine, port) });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const shutdown = () => {
    injector.destroy();
    server.forceShutdown();
  };
  return { injectConnection: (socket: Socket) => injector.injectConnection(socket), shutdown };
};

const readOf = (engine: Engine) => (call: ReadCall) =>
  engine.gate.pass(() => {
    const answered = async () => {
      const request = readRequestIn(call.request);
      await (request.isSubscription ? subscribe(engine, call, request) : readOnce(engine, call, request));
    };
    answered().catch((error: unknown) => call.emit('error', error));
  });

/** Owns the sockets itself, so that connections can be cut the way a killed process cuts them. */
const entranceTo = (accept: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  let listener: Listener | undefined;
  const drop = (): number => {
    const dropped = sockets.size;
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
    return dropped;
  };
  const admit = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // A client that goes away may reset the connection: nothing to do about it here.
    socket.on('error', () => {});
    accept(socket);
  };
  return {
    drop,
    async open(port: number): Promise<number> {
      listener = createServer(admit).listen(port, '127.0.0.1');
      await once(listener, 'listening');
      return addressOf(listener).port;
    },
    async close(): Promise<void> {
      const closing = listener;
      if (!closing) return;
      listener = undefined;
      const closed = once(closing, 'close');
      closing.close();
      drop();
      await closed;
    },
  };
};

const addressOf = (listener: Listener): AddressInfo => {
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error(`The stand-in listens on no TCP port but on ${address}.`);
  return address;
};
