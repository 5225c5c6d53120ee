import * as z from 'zod';

const CHARACTERS_MAX = 2_048;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The application’s own domain, reversed (RFC 8252, section 7.1): nobody else may claim it. */
const REVERSE_DOMAIN_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/**
 * The target of an authorization. It is compared character by character (RFC 9700, section 4.1.3), so it is
 * stored as given, and must be spelled as a browser would spell it.
 */
export const redirectUri = z
  .string()
  .max(CHARACTERS_MAX)
  .superRefine((text, context) => {
    const error = faultOf(text);
    if (error !== undefined) context.addIssue({ code: 'custom', message: error });
  })
  .meta({ format: 'uri' });

const faultOf = (text: string): string | undefined => {
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'Must be an absolute URI.';
  if (text.includes('#')) return 'Must have no fragment.';
  if (/[*\\<>"{}|^`]/.test(text))
    return 'Must be exact, without wildcards or characters that a URI cannot contain.';
  const { protocol, hostname, username, password, href } = new URL(text);
  if (username !== '' || password !== '') return 'Must have no user and no password.';
  if (protocol === 'https:' || protocol === 'http:') {
    if (protocol === 'http:' && !LOOPBACK.has(hostname))
      return 'Must be https; http is only for loopback addresses (localhost, 127.0.0.1, [::1]).';
    return isSpelledAs(text, href) ? undefined : `Must be written as browsers do: ${href}`;
  }
  if (!REVERSE_DOMAIN_SCHEME.test(protocol))
    return 'Must be https, or have a reverse domain name as its scheme, such as com.example.app:/callback.';
  return text.startsWith(protocol) ? undefined : 'Must have its scheme in lower case.';
};

/** A missing slash after the host is the one difference that does no harm. */
const isSpelledAs = (text: string, href: string): boolean => text === href || `${text}/` === href;

const isLoopback = (uri: string): boolean => LOOPBACK.has(new URL(uri).hostname);

/**
 * Whether the URIs belong to an application on the user’s own machine. It uses any free port of the loopback
 * address, so the port is not compared (RFC 8252, section 7.3); everything else is.
 */
export const areNative = (uris: readonly string[]): boolean =>
  uris.some((uri) => !uri.startsWith('https:')) &&
  !uris.some((uri) => uri.startsWith('https:') && isLoopback(uri));
