import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRange } from './address.ts';
import { isAddressAllowed } from './inside-addresses.ts';
import type { ResolveName } from './resolve-name.ts';

/** The host has a private address, to which no request may go. */
class InsideAddress extends Error {
  readonly code = 'INSIDE_ADDRESS';

  constructor(hostname: string) {
    super(`${hostname} resolves to a private address`);
    this.name = 'InsideAddress';
  }
}

type Options = {
  readonly allowed: readonly AddressRange[];
  readonly resolveName: ResolveName;
  readonly timeoutMs: number;
};

/**
 * Connects to allowed addresses only. It checks every address of a name and connects to exactly those, so
 * that a name with changing answers gains nothing; it also checks the remote address of the socket.
 */
export const createGuardedConnector = ({
  allowed,
  resolveName,
  timeoutMs,
}: Options): buildConnector.connector => {
  const isAllowed = (address: string | undefined): boolean =>
    address !== undefined && isAddressAllowed(address, allowed);

  const resolve = async (hostname: string) => {
    const addresses = await resolveName(hostname);
    if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address)))
      throw new InsideAddress(hostname);
    return [...addresses];
  };

  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) =>
        all ? callback(null, addresses) : callback(null, addresses[0]?.address ?? '', addresses[0]?.family),
      (error) => callback(error, []),
    );
  };

  const connect = buildConnector({ lookup, autoSelectFamily: true, allowH2: false, timeout: timeoutMs });
  return (options, callback) => {
    // A literal address needs no lookup.
    if (isIP(options.hostname) !== 0 && !isAllowed(options.hostname))
      return callback(new InsideAddress(options.hostname), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isAllowed(socket.remoteAddress)) return callback(null, socket);
      socket.destroy();
      callback(new InsideAddress(options.hostname), null);
    });
  };
};
