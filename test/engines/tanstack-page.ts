import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startLocalServer } from './local-server.ts';

const FOLDER = new URL('../../docs/examples/tanstack/', import.meta.url);
const PACKAGE: Readonly<Record<string, string>> = {
  'annals/client': 'package/client.ts',
  'annals/client/sign-in': 'package/client-sign-in.ts',
  'annals/tanstack': 'package/tanstack.ts',
};

/** The bundler of Vite, which readers of docs/tanstack.md build the page with. */
const bundle = async (): Promise<string> => {
  const resolveFrom = (from: string, name: string): string => createRequire(from).resolve(name);
  const ofVite = resolveFrom(resolveFrom(import.meta.url, 'vitest/package.json'), 'vite/package.json');
  const { rolldown } = await import(pathToFileURL(resolveFrom(ofVite, 'rolldown')).href);
  const build = await rolldown({
    input: fileURLToPath(new URL('app.tsx', FOLDER)),
    platform: 'browser',
    logLevel: 'silent',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'annals',
        resolveId: (name: string) =>
          PACKAGE[name] && fileURLToPath(new URL(`../../${PACKAGE[name]}`, import.meta.url)),
      },
    ],
  });
  const { output } = await build.generate({ format: 'es' });
  await build.close();
  return output[0].code;
};

/** The page of docs/tanstack.md, for an installation and a client of it. */
export const serveTanstackPage = async (annals: string, clientId: string) => {
  const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
  const html = read('index.html')
    .replace('http://localhost:4000', annals)
    .replace('data-client="claims-page"', `data-client="${clientId}"`)
    .replace('app.tsx', 'app.js');
  const files: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['text/html', html],
    '/style.css': ['text/css', read('style.css')],
    '/app.js': ['text/javascript', await bundle()],
  };
  return startLocalServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://page.invalid');
    const [type, text] = files[pathname] ?? ['text/plain', ''];
    response.writeHead(pathname in files ? 200 : 404, { 'Content-Type': `${type}; charset=utf-8` }).end(text);
  });
};
