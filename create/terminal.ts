import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Reported to the user by its message. */
export class Refused extends Error {}

/** By Ctrl+C, or by Ctrl+D at a question. */
export class Interrupted extends Error {}

export const demand = (why: string | undefined): void => {
  if (why !== undefined) throw new Refused(why);
};

/** Asks on a terminal, and takes the suggestion otherwise. */
export const ask = async (question: string, suggested: string): Promise<string> => {
  if (!process.stdin.isTTY) return suggested;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = once(terminal, 'close').then(() => Promise.reject(new Interrupted()));
  try {
    return (
      (await Promise.race([terminal.question(`${question} (${suggested}) `), closed])).trim() || suggested
    );
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ABORT_ERR' ? new Interrupted() : error;
  } finally {
    closed.catch(() => {});
    terminal.close();
  }
};
