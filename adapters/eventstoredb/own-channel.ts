import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  experimental,
  type Metadata,
} from '@grpc/grpc-js';
import { StartRefused } from '#kernel/base/start-refused.ts';

/**
 * The same channel with a connection of its own: gRPC would give every client of the process the same one, so that a
 * client that replaces another would share its silence. And without compression, which newer servers apply to
 * each message however small, as gRPC offers it to every server.
 */
export const ownChannel = (shared: Channel, target = shared.getTarget()): Channel => {
  const { credentials, options } = internalsOfChannel(shared);
  shared.close();
  const own = new Channel(target, credentials, {
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
