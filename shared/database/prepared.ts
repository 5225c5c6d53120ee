import { createHash } from 'node:crypto';
import type { Statement } from './pipeline.ts';

/** A statement that each connection parses and plans once. Its text must be one of a few. */
export const prepared = (text: string, values: readonly unknown[]): Statement => {
  const name = nameOf(text);
  return name === undefined ? { text, values } : { name, text, values };
};

const names = new Map<string, string>();
/** Each connection keeps the plans of those that it has run. */
const NAMES_MAX = 1_000;

const nameOf = (text: string): string | undefined => {
  const known = names.get(text);
  if (known !== undefined || names.size >= NAMES_MAX) return known;
  const name = `together_${createHash('sha256').update(text).digest('hex').slice(0, NAME_CHARACTERS)}`;
  names.set(text, name);
  return name;
};

const NAME_CHARACTERS = 32;

/** Sends statements one by one. */
export type Sender = { query(text: string, values?: unknown[]): Promise<unknown> };

/** Collects the statements that the work sends, for `sendPipelined`; the work gets no results. */
export const collect = async (work: (sender: Sender) => Promise<unknown>): Promise<readonly Statement[]> => {
  const statements: Statement[] = [];
  await work({
    async query(text, values = []) {
      statements.push(prepared(text, values));
    },
  });
  return statements;
};
