/** What a list of sources can hold without being another directive. */
const ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:$/;
const IPV6_HOST = /^\[/;
/** Schemes that run or show something where a form ends. */
const NEVER = new Set(['javascript:', 'data:', 'blob:', 'filesystem:', 'about:', 'file:']);
/** A header has an end; a client with more origins than this lists the one of the request first. */
const TARGETS_MAX = 20;

/**
 * The sources of `form-action` for a client's redirect URIs: an origin, or a scheme where there is none, as
 * for native applications. All that are registered are named and not only the one in use, so that a client
 * whose callback redirects on to another origin of its own can have that one let through by registering it.
 */
export const formTargetsOf = (redirectUris: readonly string[]): readonly string[] => {
  const targets = new Set<string>();
  for (const uri of redirectUris) {
    const target = targetOf(uri);
    if (target !== undefined && targets.size < TARGETS_MAX) targets.add(target);
  }
  return [...targets];
};

const targetOf = (uri: string): string | undefined => {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, origin, hostname } = new URL(uri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  // A source cannot hold an IPv6 address: `http://[::1]:8123` needs the scheme.
  if (isWeb && !IPV6_HOST.test(hostname)) return ORIGIN.test(origin) ? origin : undefined;
  return SCHEME.test(protocol) && !NEVER.has(protocol) ? protocol : undefined;
};
