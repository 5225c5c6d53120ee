import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '#shared/folder.ts';

/** The first credentials of a development installation, stored where only its user can read them. */
const FirstMinute = z.object({
  /** The address of the server. */
  url: z.url().optional(),
  /** A service client that acts as an administrator. */
  client: z.object({ clientId: z.string(), secret: z.string() }),
  /** A person who can sign in. */
  author: z.object({ email: z.string(), password: z.string() }),
});
export type FirstMinute = z.infer<typeof FirstMinute>;

/** The demo’s data for its users, in development. */
const DemoAccess = z.object({
  /** A person of the demo who can sign in. */
  administrator: z.object({
    id: z.int().positive(),
    name: z.string(),
    email: z.string(),
    password: z.string(),
  }),
  receiverPort: z.int(),
  /** The page to open first. */
  lookAt: z.object({ path: z.string(), says: z.string() }),
});
export type DemoAccess = z.infer<typeof DemoAccess>;

const FILE = 'development-access.json';
const DEMO_FILE = 'demo-access.json';

export const firstMinutePath = (dataDir: string): string => join(dataDir, FILE);

/** Undefined if there is no usable one; it is then created again. */
export const readFirstMinute = (dataDir: string): Promise<FirstMinute | undefined> =>
  read(firstMinutePath(dataDir), FirstMinute);

export const writeFirstMinute = (dataDir: string, content: FirstMinute): Promise<void> =>
  write(dataDir, FILE, content);

/** Undefined if there is no demo, or it was created in production. */
export const readDemoAccess = (dataDir: string): Promise<DemoAccess | undefined> =>
  read(join(dataDir, DEMO_FILE), DemoAccess);

export const writeDemoAccess = (dataDir: string, content: DemoAccess): Promise<void> =>
  write(dataDir, DEMO_FILE, content);

export const removeDemoAccess = (dataDir: string): Promise<void> =>
  rm(join(dataDir, DEMO_FILE), { force: true });

const read = async <Content>(path: string, schema: z.ZodType<Content>): Promise<Content | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** Readers find the complete old one or the complete new one. */
const write = async (dataDir: string, file: string, content: object): Promise<void> => {
  await makeFolder(dataDir);
  const path = join(dataDir, file);
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(temporary, path);
};
