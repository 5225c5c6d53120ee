/**
 * The paths of the authorization server's pages: those that people see, and those that only a browser may
 * visit.
 */
export const PAGE_PATHS = [
  '/authorize',
  '/sign-in',
  '/sign-up',
  '/sign-out',
  '/consent',
  '/device',
  '/account',
] as const;

const PAGE_PATH = new RegExp(`^(?:${PAGE_PATHS.join('|')})(?:/|$)`, 'i');

/**
 * Pages of other origins may not read these. RFC 9700, section 2.1, forbids it for the authorization
 * endpoint.
 */
export const isPagePath = (path: string): boolean => PAGE_PATH.test(path);
