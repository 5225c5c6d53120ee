import pg from 'pg';
import { NotReady } from '#shared/not-ready.ts';

/** What failed, in words that say nothing of persons, hosts and folders; the whole error is in the log. */
export const failureForAnybody = (error: unknown): string => {
  if (error instanceof NotReady) return error.message;
  if (error instanceof pg.DatabaseError) return `PostgreSQL says ${withoutValues(error.message)} (${error.code})`;
  const { name, code } = error as Partial<Error & { code: unknown }>;
  return [name ?? typeof error, code].filter((part) => part !== undefined).join(' ');
};

/** PostgreSQL quotes whatever was given to it, in the quotation marks of its language; a value may hold such marks itself. */
const withoutValues = (message: string): string => message.replace(/["'„“”«»‹›‘’].*["'„“”«»‹›‘’]/s, '…');
