/** As vitest says it of a test, a hook, `expect.poll` and its workers, and testing/load.ts of a deadline. */
const TIME_LIMIT =
  /\btimed out in \d+ ?ms|Matcher did not succeed in time|Timeout (?:calling|starting|waiting)|on this loaded machine/;

export const isByTimeLimit = (message = ''): boolean => TIME_LIMIT.test(message);
