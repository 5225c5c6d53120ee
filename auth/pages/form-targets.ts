/** An origin that can be in a source list without starting another directive. */
const ORIGIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:$/;
const IPV6_HOST = /^\[/;
/** Schemes that would run or show content where a form ends. */
const NEVER = new Set(['javascript:', 'data:', 'blob:', 'filesystem:', 'about:', 'file:']);
/** Limits the header; for a client with more origins, that of the request comes first. */
const TARGETS_MAX = 20;

/**
 * The sources of `form-action` for a client's redirect URIs: an origin, or a scheme if there is none, as for
 * native applications. Names all registered URIs, not only the one in use: a callback may redirect on to
 * another origin of the same client, if that is registered too.
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
  // A source cannot contain an IPv6 address: `http://[::1]:8123` needs the scheme.
  if (isWeb && !IPV6_HOST.test(hostname)) return ORIGIN.test(origin) ? origin : undefined;
  return SCHEME.test(protocol) && !NEVER.has(protocol) ? protocol : undefined;
};
