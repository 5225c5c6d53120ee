import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMasterKey } from './master-key-file.ts';

const temporaryFolder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'annals-key-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
};

test('the first start creates a key that only its user can read, and later starts find it', async () => {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const keys = await Promise.all([1, 2, 3].map(() => openMasterKey({ masterKey: undefined, dataDir })));
  const again = await openMasterKey({ masterKey: undefined, dataDir });
  for (const key of keys) expect(key.equals(again)).toBe(true);
  expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
});

test('the key of the settings wins and nothing is written', async () => {
  await using folder = await temporaryFolder();
  const key = await openMasterKey({
    masterKey: Buffer.alloc(32, 1).toString('base64'),
    dataDir: folder.path,
  });
  expect(key.export()).toEqual(Buffer.alloc(32, 1));
  await expect(readFile(join(folder.path, 'master.key'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a damaged key is refused and kept', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'master.key');
  await writeFile(path, 'half a k');
  await chmod(path, 0o600);
  await expect(openMasterKey({ masterKey: undefined, dataDir: folder.path })).rejects.toThrow('is damaged');
  expect(await readFile(path, 'utf8')).toBe('half a k');
});
