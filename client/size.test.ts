import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

/** The bundler that also loads the tests. */
const resolveFrom = (from: string, name: string): string => createRequire(from).resolve(name);
const ofVite = resolveFrom(resolveFrom(import.meta.url, 'vitest/package.json'), 'vite/package.json');
const { rolldown } = await import(pathToFileURL(resolveFrom(ofVite, 'rolldown')).href);

const KIB = 1_024;

/** The bundle of a page that imports this. */
const bundleOf = async (source: string) => {
  const input = 'page';
  const page = {
    name: 'page',
    resolveId: (name: string) =>
      name === input ? name : name.startsWith('../package/') ? pathOf(name) : undefined,
    load: (name: string) => (name === input ? source : undefined),
  };
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent', plugins: [page] });
  const { output } = await build.generate({ format: 'es', minify: true });
  await build.close();
  return output;
};
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

test.each([
  ['without sign-in', `export * from '../package/client.ts'`, 6.5],
  [
    'with sign-in',
    `export { createClient } from '../package/client.ts'; export { signIn } from '../package/client-sign-in.ts'`,
    11.5,
  ],
])(
  'for browsers it is small %s, and has nothing of the server or of another package in it',
  async (what, source, kibMax) => {
    const [{ code, modules, imports }, ...others] = await bundleOf(source);
    expect({ imports, others }).toEqual({ imports: [], others: [] });
    const ours = /\/(?:client|package)\/(?:sign-in\/(?:browser\/)?)?[\w-]+\.ts$|^page$/;
    expect(Object.keys(modules).filter((path) => !ours.test(path))).toEqual([]);
    const { byteLength } = gzipSync(code);
    console.info(`annals/client ${what}: ${byteLength} bytes gzipped`);
    expect(byteLength).toBeLessThan(kibMax * KIB);
  },
);
