import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

/** The bundler that the tests themselves are loaded with. */
const resolveFrom = (from: string, name: string): string => createRequire(from).resolve(name);
const ofVite = resolveFrom(resolveFrom(import.meta.url, 'vitest/package.json'), 'vite/package.json');
const { rolldown } = await import(pathToFileURL(resolveFrom(ofVite, 'rolldown')).href);

const KIB = 1_024;

const bundleOf = async (name: string) => {
  const input = fileURLToPath(new URL(`../package/${name}.ts`, import.meta.url));
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'es', minify: true });
  await build.close();
  return output;
};

test('for browsers it is small, and has nothing of the server or of another package in it', async () => {
  const [{ code, modules, imports }, ...others] = await bundleOf('client');
  expect({ imports, others }).toEqual({ imports: [], others: [] });
  expect(Object.keys(modules).filter((path) => !/\/(?:client|package)\/[\w-]+\.ts$/.test(path))).toEqual([]);
  expect(gzipSync(code).byteLength).toBeLessThan(6 * KIB);
});
