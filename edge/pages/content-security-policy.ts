/**
 * Scripts and styles load from this origin only, and none are inline; styles that a script sets on an element
 * are not affected. Pictures may be data URLs, as icons are. The page may send requests to its own origin and
 * those given.
 */
export const contentSecurityPolicy = (asked: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ['connect-src', "'self'", ...new Set(asked.map((url) => new URL(url).origin))].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
