import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../folder.ts';

/** What somebody needs who has just started Annals for development, kept where only they can read it. */
const FirstMinute = z.object({
  /** Where the server listens. */
  url: z.url().optional(),
  /** A service client that acts as an administrator. */
  client: z.object({ clientId: z.string(), secret: z.string() }),
  /** A person who can sign in. */
  author: z.object({ email: z.string(), password: z.string() }),
});
export type FirstMinute = z.infer<typeof FirstMinute>;

const FILE = 'development-access.json';

export const firstMinutePath = (dataDir: string): string => join(dataDir, FILE);

/** Undefined where there is none, or none that can be used: it is then made anew. */
export const readFirstMinute = async (dataDir: string): Promise<FirstMinute | undefined> => {
  const text = await readFile(firstMinutePath(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  try {
    return FirstMinute.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** Readers find the old one or the new one, whole. */
export const writeFirstMinute = async (dataDir: string, content: FirstMinute): Promise<void> => {
  await makeFolder(dataDir);
  const temporary = `${firstMinutePath(dataDir)}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(temporary, firstMinutePath(dataDir));
};
