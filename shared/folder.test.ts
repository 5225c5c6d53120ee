import { chmod, mkdir, mkdtempDisposable, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openFolderBlobs } from './blobs/folder/folder-blobs.ts';
import { openMasterKey } from './keys/master-key-file.ts';

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
/** As root, PostgreSQL passes through the folder as another user, but cannot list it. */
const OF_DATA_DIR = process.getuid?.() === 0 ? 0o711 : 0o700;

test('a data folder of an earlier release is narrowed at the start, with its content', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'annals-'));
  await openMasterKey({ masterKey: undefined, dataDir: folder.path });
  await chmod(folder.path, 0o755);
  await mkdir(join(folder.path, 'audit'), { mode: 0o755 });
  await writeFile(join(folder.path, 'postgres.log'), '', { mode: 0o644 });
  await openMasterKey({ masterKey: undefined, dataDir: folder.path });
  expect(await modeOf(folder.path)).toBe(OF_DATA_DIR);
  expect(await modeOf(join(folder.path, 'audit'))).toBe(0o700);
  expect(await modeOf(join(folder.path, 'postgres.log'))).toBe(0o600);
  expect(await modeOf(join(folder.path, 'master.key'))).toBe(0o600);
});

test('uploads can be read by this user alone, also those of an earlier release', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'annals-'));
  const path = join(folder.path, 'uploads');
  await mkdir(join(path, 'incoming'), { recursive: true, mode: 0o755 });
  await chmod(path, 0o755);
  await using blobs = await openFolderBlobs(path);
  const name = '8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png' as Parameters<typeof blobs.put>[0];
  await blobs.put(name, Readable.from([Buffer.from('picture')]));
  expect(await modeOf(path)).toBe(0o700);
  expect(await modeOf(join(path, 'incoming'))).toBe(0o700);
  expect(await modeOf(join(path, name))).toBe(0o600);
});
