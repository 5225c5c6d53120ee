/**
 * Scripts and styles come from here alone, and none stand in the page; what a script sets on an element
 * itself this does not concern. Pictures may be data, as icons are. The page may ask where it comes from, and
 * whom else it names.
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
