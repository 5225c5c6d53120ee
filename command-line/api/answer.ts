import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { cellOf, columns } from '../output/columns.ts';
import { harmless } from '../output/print-event.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS_MAX = 7;

type Item = Readonly<Record<string, unknown>>;

/** Prints an answer as a table, or as JSON for programs. */
export const printAnswer = async (answer: Response, given: Given, terminal: Terminal): Promise<void> => {
  const type = answer.headers.get('Content-Type') ?? '';
  const file = given.values.get('output')?.at(-1);
  if (file !== undefined) return writeFile(file, bytesOf(answer));
  if (/^(?:image|audio|video)\/|^application\/(?:octet-stream|pdf|zip)/.test(type)) {
    await answer.body?.cancel();
    throw new UsageError(`the answer is ${type}: name a file for it with --output`);
  }
  if (type !== '' && !/^application\/(?:[\w.-]+\+)?json\b/.test(type)) {
    for await (const line of createInterface({ input: bytesOf(answer) }))
      await terminal.write(harmless(line));
    return;
  }
  const text = await answer.text();
  if (text === '') {
    if (!given.flags.has('json')) terminal.complain('Done.');
    return;
  }
  await printValue(JSON.parse(text), given, terminal);
};

/** As they come: an export of the log may be larger than the memory. */
const bytesOf = ({ body }: Response): Readable =>
  body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream);

export const printValue = async (value: unknown, { flags }: Given, terminal: Terminal): Promise<void> => {
  const lines = flags.has('json')
    ? (Array.isArray(value) ? value : [value]).map((each) => JSON.stringify(each))
    : Array.isArray(value)
      ? rowsOf(value)
      : linesOf(value);
  for (const line of lines) await terminal.write(line);
};

const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isShort = (value: unknown): boolean => value === null || typeof value !== 'object';

/** A table of the first fields with simple values. */
const rowsOf = (values: readonly unknown[]): readonly string[] => {
  const items = values.filter(isItem);
  if (items.length < values.length) return values.map((value) => harmless(JSON.stringify(value)));
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const shown = names
    .filter((name) => items.every((item) => isShort(item[name])))
    .filter((name) => items.some((item) => item[name] !== null && item[name] !== undefined))
    .slice(0, COLUMNS_MAX);
  if (items.length === 0) return [];
  if (shown.length === 0) return items.map((item) => harmless(JSON.stringify(item)));
  return columns(
    shown.map((name) => cellOf(name)),
    items.map((item) => shown.map((name) => cellOf(textOf(item[name])))),
  );
};

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '–' : isShort(value) ? String(value) : JSON.stringify(value);

/** A line for each field. Links are for programs. */
const linesOf = (value: unknown): readonly string[] => {
  if (!isItem(value)) return [harmless(typeof value === 'string' ? value : JSON.stringify(value))];
  const entries = Object.entries(value).filter(([name]) => name !== '_links');
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(
    ([name, field]) => `${harmless(name.padEnd(width))}  ${cellOf(textOf(field), Number.POSITIVE_INFINITY)}`,
  );
};
