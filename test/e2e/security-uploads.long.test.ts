import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sharedTest as test } from '../engines/installation-fixture.ts';
import { sendRaw } from '../engines/raw-request.ts';

const PLANTED = 'a file that is no upload';

test.for([
  '/uploads/../planted.png',
  '/uploads/..%2fplanted.png',
  '/uploads/%2e%2e/planted.png',
  '/uploads/%2e%2e%2fplanted.png',
  '/uploads/..%5cplanted.png',
  '/uploads/....//planted.png',
  '/uploads/%00planted.png',
  '/uploads//planted.png',
  '/uploads/planted.png',
  '/uploads/./sub/../../planted.png',
])('the path %s leads to no file of the installation', async (path, { installation }) => {
  const folder = installation.settings.DATA_DIR ?? '';
  await mkdir(join(folder, 'uploads'), { recursive: true });
  await Promise.all(
    [folder, join(folder, 'uploads')].map((each) => writeFile(join(each, 'planted.png'), PLANTED)),
  );
  const answer = await sendRaw(installation.origin, [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close']);
  expect(answer).toMatch(/^HTTP\/1\.1 (?:400|404) /);
  expect(answer).not.toContain(PLANTED);
});
