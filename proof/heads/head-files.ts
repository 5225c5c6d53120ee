import { join } from 'node:path';
import { type HeadStatement, readStatement, type SignedHead, signedHead } from '../stored/signed-head.ts';
import { type AuditKey, auditKey } from '../stored/signing-keys.ts';
import { appendLines, mendFile, readLines, stampOf } from './line-file.ts';

/** Files outside the database, so that access to the database alone does not suffice to change a proof. */
export type HeadFiles = { readonly heads: string; readonly keys: string };

export const headFilesIn = (auditDir: string): HeadFiles => ({
  heads: join(auditDir, 'heads.jsonl'),
  keys: join(auditDir, 'keys.jsonl'),
});

export type ReadHead = SignedHead & { readonly says: HeadStatement };

/** A process that lost its lease without noticing may repeat what its successor has written since. */
const REPEATED_WITHIN = 16;

/** The distinct heads in lines of a file; throws `LineDamaged` at an invalid line. */
export async function* readHeads(
  lines: AsyncIterable<string> | Iterable<string>,
  name: string,
): AsyncGenerator<ReadHead> {
  let number = 0;
  const latest: string[] = [];
  for await (const line of lines) {
    number += 1;
    if (latest.includes(line)) continue;
    latest.push(line);
    if (latest.length > REPEATED_WITHIN) latest.shift();
    yield readAs(() => parseHead(line), name, number);
  }
}

export const readHeadFile = ({ heads }: HeadFiles): AsyncGenerator<ReadHead> =>
  readHeads(readLines(heads), heads);

export const readKeyFile = async ({ keys }: HeadFiles): Promise<readonly AuditKey[]> => {
  const lines = await Array.fromAsync(readLines(keys));
  return lines.map((line, index) => readAs(() => auditKey.parse(JSON.parse(line)), keys, index + 1));
};

export const appendHeads = (files: HeadFiles, heads: readonly SignedHead[]): Promise<void> =>
  appendLines(
    files.heads,
    heads.map(({ statement, signature }) => JSON.stringify({ statement, signature })),
  );

export const appendKeys = (files: HeadFiles, keys: readonly AuditKey[]): Promise<void> =>
  appendLines(
    files.keys,
    keys.map((key) => JSON.stringify(key)),
  );

export const mendFiles = async ({ heads, keys }: HeadFiles): Promise<void> => {
  await mendFile(heads);
  await mendFile(keys);
};

export const stampOfFiles = async ({ heads, keys }: HeadFiles): Promise<string> =>
  `${await stampOf(heads)} ${await stampOf(keys)}`;

const parseHead = (line: string): ReadHead => {
  const head = signedHead.parse(JSON.parse(line));
  return { ...head, says: readStatement(head.statement) };
};

const readAs = <Value>(read: () => Value, file: string, line: number): Value => {
  try {
    return read();
  } catch (cause) {
    throw new LineDamaged(file, line, { cause });
  }
};

export class LineDamaged extends Error {
  readonly line: number;

  constructor(file: string, line: number, options?: ErrorOptions) {
    super(`line ${line} of ${file} was changed after it was written`, options);
    this.name = 'LineDamaged';
    this.line = line;
  }
}
