import { access } from 'node:fs/promises';
import type { Config } from '#process/config.ts';

/** The result of one check: one sentence, and the remedy if there is a problem. */
export type Diagnosis = {
  readonly outcome: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly remedy?: string;
};

/** The input of a check: the settings of this shell, and what they lead to. */
export type Examined = {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

export const ok = (says: string): Diagnosis => ({ outcome: 'ok', says });
export const warn = (says: string, remedy: string): Diagnosis => ({ outcome: 'warn', says, remedy });
export const fail = (says: string, remedy: string): Diagnosis => ({ outcome: 'fail', says, remedy });

/** For sentences that name the remedy after a colon, like those of the start. */
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
