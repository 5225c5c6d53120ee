import { isIP } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';

type SecureConnector = { readonly connectionOptions?: { servername?: string } };
type CreateConnector = (...given: readonly unknown[]) => SecureConnector;

/** gRPC names the server in the handshake also by an IP address, which Node warns of at each start. */
export const withoutAddressAsName = (credentials: ChannelCredentials): ChannelCredentials => {
  const create: unknown = Reflect.get(credentials, '_createSecureConnector');
  if (typeof create !== 'function') return credentials;
  const named = Object.create(credentials) as ChannelCredentials;
  Reflect.set(named, '_createSecureConnector', (...given: readonly unknown[]) => {
    const connector = (create as CreateConnector).call(credentials, ...given);
    const { connectionOptions } = connector;
    if (connectionOptions !== undefined && isIP(connectionOptions.servername ?? '') !== 0)
      connectionOptions.servername = '';
    return connector;
  });
  return named;
};
