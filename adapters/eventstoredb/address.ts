/**
 * `esdb://user:password@host:2113,host:2113?tls=false`: with several hosts it is no URL, and is parsed as the
 * client parses it.
 */
const ADDRESS = /^esdb(?:\+discover)?:\/\/(?:[^:@]+:[^@]+@)?(?<hosts>[^@/?]+)\/*(?:\?.*)?$/;
const HOST = /^[^\s$+!?*'(),;[\]{}|"%~#<>=&:/@]+(?::(?<port>\d{1,5}))?$/;
const PORT_MAX = 65_535;
const DEFAULT_PORT = 2113;

/** The hosts of an address, without user and password; undefined if it is no address of EventStoreDB. */
export const hostsIn = (address: string): readonly string[] | undefined => {
  const hosts = ADDRESS.exec(address)?.groups?.hosts?.split(',');
  return hosts?.every(isHost) ? hosts : undefined;
};

/** The options after the question mark, by their names in small letters: the client ignores their case. */
export const optionsIn = (address: string): ReadonlyMap<string, string> => {
  const pairs = address.split('?')[1]?.split('&') ?? [];
  return new Map(
    pairs
      .map((pair) => pair.split('='))
      .map(([key = '', value = '']) => [key.toLowerCase(), value.trim()] as const),
  );
};

const CREDENTIALS = /^[^:]+:\/\/(?<credentials>[^:]+:[^@]+)@/;

/** User and password as they are in the address. */
export const credentialsIn = (address: string): string | undefined =>
  CREDENTIALS.exec(address)?.groups?.credentials;

/** The same address without one of its hosts, if there are others: that one is not asked who leads. */
export const withoutHost = (address: string, host: string | undefined): string => {
  const hosts = ADDRESS.exec(address)?.groups?.hosts;
  const others =
    hosts?.split(',').filter((each) => each !== host && `${each}:${DEFAULT_PORT}` !== host) ?? [];
  return hosts === undefined || others.length === 0 ? address : address.replace(hosts, others.join());
};

/** The port of one host of an address. */
export const portIn = (host: string): number => Number(HOST.exec(host)?.groups?.port ?? DEFAULT_PORT);

const isHost = (text: string): boolean => {
  const host = HOST.exec(text);
  const port = Number(host?.groups?.port ?? 1);
  return host !== null && port > 0 && port <= PORT_MAX;
};
