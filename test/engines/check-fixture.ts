import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { verifierKeyOf } from '../../proof/tree/note.ts';
import { aKey, aLog } from '../proven-log.ts';
import { callAt } from './call-line.ts';

/** Neither a database nor a folder of data is there. */
export const check = (...args: readonly string[]) =>
  callAt({ domain: publishing, environment: { DATA_DIR: '/nowhere' } }, ['audit', 'check', ...args]);

export const signer = aKey();
export const vkey = verifierKeyOf(signer.key);

export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('save', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-check-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return async (name: string, text: string): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, text);
      return path;
    };
  })
  .extend('proof', { scope: 'file' }, async ({ save }) => {
    const text = await aLog().prove(4, signer);
    return { text, path: await save('event.tlog-proof', text) };
  });
