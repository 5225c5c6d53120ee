import { test as base } from 'vitest';
import { temporaryDataDir } from './data-dir.ts';

/** A folder for each file, removed at its end with any server still running on it. */
export const test = base
  .extend('openFolder', { scope: 'file' }, () => temporaryDataDir)
  .extend('folder', { scope: 'file' }, async ({ openFolder }, { onCleanup }) => {
    const folder = await openFolder();
    onCleanup(() => folder[Symbol.asyncDispose]());
    return folder.path;
  });
