import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { makeFolder } from '#shared/folder.ts';
import type { Contract } from './contract.ts';
import { printedJson } from './printed-json.ts';
import { ACCEPTED_SHAPE, PART_SHAPES } from './recorded-shapes.ts';

/** A break that was accepted, and why. */
export type Accepted = { readonly what: string; readonly says: string; readonly reason: string };

/** One file for each part, so that diffs are readable; tools read the schema's file directly. */
const FILES = {
  events: 'events.json',
  operations: 'operations.json',
  rights: 'rights.json',
  schema: 'schema.graphql',
} as const;
const ACCEPTED = 'accepted.json';

/** The files of a contract by name, as they are written. */
export const filesOf = ({ schema, ...parts }: Contract): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [FILES[part as keyof typeof FILES], printedJson(value)]),
  ),
  [FILES.schema]: schema,
});

export type Recorded = { readonly contract: Contract; readonly files: Readonly<Record<string, string>> };

/** Undefined if nothing was recorded yet. */
export const readRecorded = (folder: string): Recorded | undefined => {
  const read = Object.values(FILES).map((file) => [file, readFile(join(folder, file))] as const);
  const missing = read.flatMap(([file, text]) => (text === undefined ? [file] : []));
  if (missing.length === read.length) return undefined;
  if (missing.length > 0)
    throw new StartRefused(
      `${join(folder, missing[0] ?? '')} is not there, and the others of the contract are: restore it.`,
    );
  const files = Object.fromEntries(read) as Record<string, string>;
  const partOf = (part: keyof typeof PART_SHAPES): unknown =>
    parsed(join(folder, FILES[part]), files[FILES[part]] ?? '', (text) =>
      PART_SHAPES[part].parse(JSON.parse(text)),
    );
  parsed(join(folder, FILES.schema), files[FILES.schema] ?? '', parse);
  return {
    files,
    contract: {
      events: partOf('events'),
      operations: partOf('operations'),
      rights: partOf('rights'),
      schema: files[FILES.schema],
    } as Contract,
  };
};

export const writeRecorded = async (
  folder: string,
  contract: Contract,
  accepted: readonly Accepted[],
): Promise<void> => {
  await makeFolder(folder);
  // Reasons are written first: once the contract is recorded, the accepted break cannot be found any more.
  const reasons =
    accepted.length > 0 ? [[ACCEPTED, printedJson([...readAccepted(folder), ...accepted])] as const] : [];
  const files = [...reasons, ...Object.entries(filesOf(contract))].map(
    ([file, text]) => [join(folder, file), text] as const,
  );
  for (const [path, text] of files) writeFileSync(`${path}.new`, text);
  for (const [path] of files) renameSync(`${path}.new`, path);
};

const readAccepted = (folder: string): readonly Accepted[] => {
  const path = join(folder, ACCEPTED);
  const text = readFile(path);
  return text === undefined ? [] : parsed(path, text, (json) => ACCEPTED_SHAPE.parse(JSON.parse(json)));
};

const readFile = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const parsed = <T>(path: string, text: string, read: (text: string) => T): T => {
  try {
    return read(text);
  } catch (cause) {
    const [issue] = cause instanceof z.ZodError ? cause.issues : [];
    const where =
      issue === undefined
        ? ''
        : `${issue.path.map((each) => `${String(each)}: `).join('')}${issue.message}. `;
    throw new StartRefused(`${path} cannot be read: ${where}Take it from version control again.`, { cause });
  }
};
