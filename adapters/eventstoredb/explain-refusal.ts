import { readFileSync } from 'node:fs';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { credentialsIn, hostsIn, optionsIn, portIn } from './address.ts';
import { denialIn, isLeaderless } from './failures.ts';

/**
 * The reason why no log opens at an address, in one sentence without its password. Connects to the hosts
 * itself, because the client reports a failed handshake, or nothing, as an unavailable server.
 */
export const explainRefusal = async (url: string, error: unknown): Promise<string> => {
  const hosts = hostsIn(url) ?? [];
  const place = `EventStoreDB at ${hosts.join()}`;
  const denial = denialIn(error);
  if (denial === 'of the password')
    return `${place} refuses the user of EVENT_LOG_URL or its password: correct them.`;
  if (denial === 'of a right')
    return isAnonymous(url)
      ? `${place} demands a user, and EVENT_LOG_URL names none: write esdb://user:password@${hosts.join()}.`
      : `${place} denies the user of EVENT_LOG_URL a right (${messageOf(error)}): grant the rights of “The user of EventStoreDB” in docs/deployment.md.`;
  const findings = await Promise.all(hosts.map((host) => look(host, url)));
  const finding = findings.find(({ says }) => says !== undefined);
  if (finding?.says !== undefined) return finding.says;
  if (!findings.some(({ connection }) => connection === 'well'))
    return `No EventStoreDB answers at ${hosts.join()}: start it, or set EVENT_LOG_URL to one that runs.`;
  return isLeaderless(error)
    ? `${place} has no leader: start a majority of its nodes, and see their logs.`
    : `${place} accepts connections, and answers no request (${messageOf(deepest(error))}): see its log.`;
};

const isAnonymous = (url: string): boolean =>
  credentialsIn(url) === undefined && !optionsIn(url).has('usercertfile');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const deepest = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? deepest(error.cause) : error;

/** Refuses an address none of whose hosts is worth waiting for, because their certificates are not trusted. */
export const demandTrusted = async (url: string): Promise<void> => {
  if (optionsIn(url).get('tls') === 'false') return;
  const looks = (hostsIn(url) ?? []).map((host) => look(host, url));
  const well = looks.map(async (looking) => {
    if ((await looking).connection === 'refuses') throw new Error('its handshake fails');
  });
  // One host that may answer is enough.
  const mayAnswer = await Promise.any(well).then(
    () => true,
    () => false,
  );
  if (mayAnswer) return;
  const [finding] = await Promise.all(looks);
  if (finding?.says !== undefined) throw new StartRefused(finding.says);
};

/** `away` if nothing accepts a connection; with a sentence, if something is wrong with the address or the host. */
type Finding = { readonly connection: 'well' | 'away' | 'refuses'; readonly says?: string };

const WELL: Finding = { connection: 'well' };
const refuses = (says: string): Finding => ({ connection: 'refuses', says });

const TIMEOUT_MS = 5_000;

const look = async (host: string, url: string): Promise<Finding> => {
  const [name = ''] = host.split(':', 1);
  const port = portIn(host);
  const plain = await outcomeOf(connectPlain({ host: name, port }), 'connect');
  if (plain === 'ENOTFOUND' || plain === 'EAI_AGAIN')
    return {
      connection: 'away',
      says: `The name ${name} in EVENT_LOG_URL cannot be resolved (${plain}): correct it, or the name service.`,
    };
  if (plain !== 'connected') return { connection: 'away' };
  const options = optionsIn(url);
  const isPlain = options.get('tls') === 'false';
  const caFile = isPlain ? undefined : options.get('tlscafile');
  const secure = await outcomeOf(
    connectTls({
      ...{ host: name, port, ALPNProtocols: ['h2'], rejectUnauthorized: !isPlain },
      ...(isIP(name) === 0 && { servername: name }),
      ...(caFile !== undefined && { ca: readFileSync(resolve(decodeURIComponent(caFile))) }),
    }),
    'secureConnect',
  );
  if (isPlain)
    return secure === 'connected'
      ? refuses(`EventStoreDB at ${host} demands TLS, and EVENT_LOG_URL has tls=false: remove that.`)
      : WELL;
  if (secure === 'connected') return WELL;
  const says = sayHandshake(secure, { host, caFile });
  // A server that is starting may reset the connection.
  return LASTING.has(secure) ? refuses(says) : { connection: 'away', says };
};

const sayHandshake = (
  code: string,
  { host, caFile }: { host: string; caFile: string | undefined },
): string => {
  const certificate = `The certificate of EventStoreDB at ${host}`;
  if (code === 'CERT_HAS_EXPIRED') return `${certificate} has expired: renew it.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${certificate} is for other names: name the host in EVENT_LOG_URL as the certificate does.`;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `EventStoreDB at ${host} does not speak TLS: add ?tls=false to EVENT_LOG_URL, or give it a certificate.`;
  if (!UNTRUSTED.has(code))
    return `The TLS handshake with EventStoreDB at ${host} fails (${code}): see its log.`;
  return caFile === undefined
    ? `${certificate} is of an authority that is not trusted here: name the file with the authority’s certificate in EVENT_LOG_URL, as tlsCAFile.`
    : `${certificate} is not of the authority in the tlsCAFile of EVENT_LOG_URL: name the file of the right one.`;
};

const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const LASTING: ReadonlySet<string> = new Set([
  ...UNTRUSTED,
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** `connected`, or the code of the error. */
const outcomeOf = async (socket: Socket, connected: 'connect' | 'secureConnect'): Promise<string> => {
  const { promise, resolve: settle } = Promise.withResolvers<string>();
  socket.on(connected, () => settle('connected'));
  socket.on('error', (error) => settle('code' in error ? String(error.code) : error.message));
  socket.on('close', () => settle('closed'));
  socket.setTimeout(TIMEOUT_MS, () => settle('no answer in time'));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
};
