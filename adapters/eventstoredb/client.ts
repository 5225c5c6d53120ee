import { EventStoreDBClient, type ReadAllOptions } from '@eventstore/db-client';
import grpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { BatchAppendResp, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { Channel } from '@grpc/grpc-js';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { credentialsIn, optionsIn } from './address.ts';
import { demandOptions } from './demand-options.ts';
import { ownChannel } from './own-channel.ts';
import { filterStreams, NO_PREFIX, type StreamPrefix } from './own-streams.ts';
import { withoutAddressesAsNames } from './server-name.ts';

/** The call that carries appends: encoded requests go in, `BatchAppendResp` come out. */
export type AppendCall = ReturnType<
  typeof grpc.StreamsClient.prototype.makeBidiStreamRequest<Buffer, BatchAppendResp>
>;

export type Connection = {
  readonly client: EventStoreDBClient;
  /** The host and port that it has connected to last. */
  target(): string | undefined;
  openAppendCall(): Promise<AppendCall>;
  /** Reads all streams that begin with a prefix. */
  readAll(prefix: StreamPrefix, options: ReadAllOptions): ReturnType<EventStoreDBClient['readAll']>;
  /** Of a request sent now. */
  deadlineMs(): number;
  /** Cancels its calls, without an effect on other clients, and closes the connection. */
  close(): Promise<void>;
};

const CLOSE_WITHIN_MS = 1_000;

/** Opens a client, which connects on its first use. */
export const connect = (url: string): Connection => {
  const client = clientFor(url);
  const internals = internalsOf(client);
  const { getChannel, callArguments, handleError } = internals;
  // Any other node may lag, or at its start show events that it truncates later. The client goes to the
  // leader if it learns which node that is.
  internals.callArguments = (options, ofCall) => callArguments({ ...options, requiresLeader: true }, ofCall);
  // The handler awaits a connection that is being sought, and nobody awaits the handler: callers of that
  // connection get the error themselves.
  internals.handleError = (failed, error) => handleError(failed, error).catch(() => {});
  const { createChannel, resolveUri } = internals;
  let target: string | undefined;
  internals.resolveUri = async () => {
    target = await resolveUri();
    return target;
  };
  internals.createChannel = async () => ownChannel(await createChannel(), target);
  let channel: Promise<Channel> | undefined;
  internals.getChannel = () => {
    channel = getChannel();
    return channel;
  };
  const { GRPCStreamCreator } = internals;
  let prefix = NO_PREFIX;
  internals.GRPCStreamCreator = (service, name, create, cache) => {
    if (prefix === NO_PREFIX) return GRPCStreamCreator(service, name, create, cache);
    const wanted = prefix;
    return GRPCStreamCreator(service, name, (streams) => create(filtering(streams, wanted)), cache);
  };
  const close = async (): Promise<void> => {
    await client.dispose();
    // Disposing leaves the channel open, and its connection with it.
    await channel?.then(
      (open) => open.close(),
      () => {},
    );
  };
  return {
    client,
    target: () => target,
    openAppendCall: internals.GRPCStreamCreator(grpc.StreamsClient, 'append', (streams) => {
      const { path, responseDeserialize } = grpc.StreamsService.batchAppend;
      const [metadata, options] = internals.callArguments({}, { deadline: Number.POSITIVE_INFINITY });
      return streams.makeBidiStreamRequest(
        path,
        (encoded) => encoded,
        responseDeserialize,
        metadata,
        options,
      );
    }),
    readAll(wanted, options) {
      // The client begins its call before it returns.
      prefix = wanted;
      try {
        return client.readAll(options);
      } finally {
        prefix = NO_PREFIX;
      }
    },
    deadlineMs: () => internals.createDeadline().getTime(),
    close: () => within(CLOSE_WITHIN_MS, close()),
  };
};

/** The same service, whose reads have a filter. */
const filtering = (streams: grpc.StreamsClient, prefix: StreamPrefix): grpc.StreamsClient =>
  Object.assign(Object.create(streams) as grpc.StreamsClient, {
    read(request: ReadReq, ...given: []) {
      filterStreams(request, prefix);
      return streams.read(request, ...given);
    },
  });

/** Overridden internals: the client’s own appends are slow, and its faults would reach the process. */
type Internals = {
  GRPCStreamCreator<Call>(
    service: unknown,
    name: string,
    create: (streams: grpc.StreamsClient) => Call,
    cache?: unknown,
  ): () => Promise<Call>;
  createChannel(): Promise<Channel>;
  resolveUri(): Promise<string>;
  getChannel(): Promise<Channel>;
  handleError(failed: unknown, error: unknown): Promise<void>;
  /** The arguments of every call, reading and appending. */
  callArguments(options: object, ofCall?: object): Required<Parameters<grpc.StreamsClient['batchAppend']>>;
  createDeadline(): Date;
};

const internalsOf = (client: object): Internals => {
  if (!hasInternals(client))
    throw new StartRefused(
      'this version of @eventstore/db-client differs from 6.2.1: adapt the call that carries appends',
    );
  return client;
};

const hasInternals = (client: object): client is Internals =>
  [
    'GRPCStreamCreator',
    'createChannel',
    'resolveUri',
    'getChannel',
    'callArguments',
    'handleError',
    'createDeadline',
  ].every((name) => typeof Reflect.get(client, name) === 'function');

const clientFor = (url: string): EventStoreDBClient => {
  const credentials = credentialsIn(url);
  if (credentials !== undefined && optionsIn(url).get('tls') === 'false')
    throw new StartRefused(
      'EVENT_LOG_URL has credentials and tls=false, but the client would silently drop the credentials: remove one of the two',
    );
  if (credentials !== undefined && credentials.split(':').length > 2)
    throw new StartRefused(
      'the password in EVENT_LOG_URL has a colon, where the client would cut it off: write the colon as %3A',
    );
  demandOptions(url);
  try {
    return withoutAddressesAsNames(() => EventStoreDBClient.connectionString(url));
  } catch {
    // The client’s own message repeats a part of the address, which may contain the password.
    throw new StartRefused(
      'EVENT_LOG_URL is invalid: EventStoreDB addresses look like esdb://user:password@host:2113, esdb://a:2113,b:2113,c:2113 or esdb://host:2113?tls=false',
    );
  }
};

const within = async (timeoutMs: number, work: Promise<void>): Promise<void> => {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  // A client that cannot be closed is left behind: its successor works already, or the process ends.
  await Promise.race([work.catch(() => {}), timedOut]);
  clearTimeout(timer);
};
