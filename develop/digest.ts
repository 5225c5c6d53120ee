import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** The digests of files by their absolute paths. */
export type Digests = Readonly<Record<string, string>>;

export const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('base64');

/** Of a missing file, an empty one. */
export const digestOfFile = async (path: string): Promise<string> => {
  const content = await readFile(path).catch(() => undefined);
  return content === undefined ? '' : digestOf(content);
};
