import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { until } from '../testing/until.ts';
import { digestOf } from './digest.ts';
import { FollowedFiles } from './follow-files.ts';

const SOON = Number.MAX_SAFE_INTEGER;

const test = base
  .extend('folder', async ({ task: _task }, { onCleanup }) => {
    const made = await temporaryDataDir();
    onCleanup(() => made[Symbol.asyncDispose]());
    await mkdir(join(made.path, 'domain'));
    return join(made.path, 'domain');
  })
  .extend('followed', ({ folder }, { onCleanup }) => {
    const changes: (readonly string[])[] = [];
    const files = new FollowedFiles((paths) => changes.push(paths));
    onCleanup(() => files[Symbol.dispose]());
    const write = async (name: string, text: string): Promise<string> => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    return { changes, files, write };
  });

const digest = (text: string): string => digestOf(Buffer.from(text));

test('a file that was saved while it was loaded has changed, once', async ({ followed }) => {
  const { changes, files, write } = followed;
  const note = await write('note.ts', 'second');
  const base = await write('base.ts', 'base');
  const loaded = { [note]: digest('first'), [base]: digest('base') };
  await files.follow({ files: [note, base], loaded, all: false, loadedAtMs: SOON });
  await until(
    () => changes,
    ({ length }) => length > 0,
  );
  expect(changes).toEqual([[note]]);
  await write('base.ts', 'base, changed');
  await until(
    () => changes,
    ({ length }) => length > 1,
  );
  expect(changes).toEqual([[note], [base]]);
});

test('of a refused declaration, a missing file that was written while it was loaded has changed', async ({
  followed,
}) => {
  const { changes, files, write } = followed;
  const domain = await write('domain.ts', 'imports ./late.ts');
  await write('notes.txt', 'no source');
  const late = await write('late.ts', 'late');
  const loaded = { [domain]: digest('imports ./late.ts') };
  await files.follow({ files: [domain], loaded, all: true, loadedAtMs: 0 });
  await until(
    () => changes,
    ({ length }) => length > 0,
  );
  expect(changes).toEqual([[late]]);
});

test('a file that a refused declaration did not reach is as it was, and one that was there before is not new', async ({
  followed,
}) => {
  const { changes, files, write } = followed;
  const domain = await write('domain.ts', 'one');
  const note = await write('note.ts', 'note');
  await write('beside.ts', 'beside');
  const served = { [domain]: digest('one'), [note]: digest('note') };
  await files.follow({ files: [domain, note], loaded: served, all: false, loadedAtMs: SOON });
  await write('note.ts', 'changed');
  await until(
    () => changes,
    ({ length }) => length > 0,
  );
  const reached = { [domain]: digest('one') };
  await files.follow({ files: [domain, note], loaded: reached, all: true, loadedAtMs: SOON });
  await write('domain.ts', 'two');
  await until(
    () => changes,
    ({ length }) => length > 1,
  );
  expect(changes).toEqual([[note], [domain]]);
});
