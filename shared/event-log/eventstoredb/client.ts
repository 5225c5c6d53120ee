import { EventStoreDBClient } from '@eventstore/db-client';
import grpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  experimental,
  type Metadata,
} from '@grpc/grpc-js';
import { StartRefused } from '#shared/process/start-refused.ts';
import { credentialsIn, optionsIn } from './address.ts';
import { demandOptions } from './demand-options.ts';
import { withoutAddressAsName } from './server-name.ts';

/** The call that carries appends: encoded requests go in, `BatchAppendResp` come out. */
export type AppendCall = ReturnType<
  typeof grpc.StreamsClient.prototype.makeBidiStreamRequest<Buffer, BatchAppendResp>
>;

export type Connection = {
  readonly client: EventStoreDBClient;
  /** The host and port that it has connected to last. */
  target(): string | undefined;
  openAppendCall(): Promise<AppendCall>;
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
  // It awaits a connection that is being sought, and nobody awaits it: callers of that connection get the
  // error themselves.
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
    deadlineMs: () => internals.createDeadline().getTime(),
    close: () => within(CLOSE_WITHIN_MS, close()),
  };
};

/**
 * The same with a connection of its own: gRPC would give every client of the process the same one, so that a
 * client that replaces another would share its silence. And without compression, which newer servers apply to
 * each message however small, as gRPC offers it to every server.
 */
const ownChannel = (shared: Channel, target = shared.getTarget()): Channel => {
  const { credentials, options } = internalsOfChannel(shared);
  shared.close();
  const own = new Channel(target, withoutAddressAsName(credentials), {
    ...options,
    'grpc.use_local_subchannel_pool': 1,
  });
  // `push` of the stack puts a filter first, where the next one overwrites what it has set.
  internalsOfChannel(own).filterStackFactory.factories.push({ createFilter: () => new Uncompressed() });
  return own;
};

class Uncompressed extends experimental.BaseFilter {
  override async sendMetadata(sent: Promise<Metadata>): Promise<Metadata> {
    const metadata = await sent;
    metadata.set('grpc-accept-encoding', 'identity');
    return metadata;
  }
}

type ChannelInternals = {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
  /** The last filter before the connection comes last. */
  readonly filterStackFactory: { readonly factories: experimental.FilterFactory<experimental.Filter>[] };
};

const internalsOfChannel = (channel: Channel): ChannelInternals => {
  const internals: unknown = Reflect.get(channel, 'internalChannel');
  if (!isChannelInternals(internals))
    throw new StartRefused(
      'this version of @grpc/grpc-js differs from 1.14.7: adapt the channels of EventStoreDB',
    );
  return internals;
};

const isChannelInternals = (value: unknown): value is ChannelInternals =>
  typeof value === 'object' &&
  value !== null &&
  ['credentials', 'options', 'filterStackFactory'].every(
    (name) => typeof Reflect.get(value, name) === 'object',
  ) &&
  Array.isArray(Reflect.get(Reflect.get(value, 'filterStackFactory') as object, 'factories'));

/** Overridden internals: the client’s own appends are slow, and its faults would reach the process. */
type Internals = {
  GRPCStreamCreator(
    service: unknown,
    name: string,
    create: (streams: grpc.StreamsClient) => AppendCall,
  ): () => Promise<AppendCall>;
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
    return EventStoreDBClient.connectionString(url);
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
