import * as z from 'zod';

/** What is wrong, by fields and rules; a message of zod's could carry content, its paths and codes do not. */
export const reasonOf = (error: Error): string =>
  error instanceof z.ZodError
    ? error.issues.map(({ path, code }) => `${path.join('.') || 'the whole'} (${code})`).join(', ')
    : error.message;
