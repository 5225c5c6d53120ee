import { access } from 'node:fs/promises';
import type { Config } from '#shared/process/config.ts';

/** What one check found: whether it is well, in one sentence, and what to do if it is not. */
export type Diagnosis = {
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly remedy?: string;
};

/** What a check looks at: the settings of this shell, and what they lead to. */
export type Examined = {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

export const ok = (says: string): Diagnosis => ({ outcome: 'ok', says });
export const warn = (says: string, remedy: string): Diagnosis => ({ outcome: 'warn', says, remedy });
export const fail = (says: string, remedy: string): Diagnosis => ({ outcome: 'fail', says, remedy });

/** Sentences that name the remedy after a colon, as those of the start do. */
export const refusal = (message: string): Diagnosis => {
  const colon = message.indexOf(': ');
  return colon === -1
    ? { outcome: 'fail', says: message }
    : fail(`${message.slice(0, colon)}.`, message.slice(colon + 2));
};

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
