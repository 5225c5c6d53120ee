import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

const ROOT = new URL('../../', import.meta.url);

/** The files of the package that a browser may load: the client, and nothing of the server. */
export const CLIENT_MODULE = /^(?:client|package)\/(?:[\w-]+\/)*[\w-]+\.js$/;

/** A module of `annals/client` as in the package: JavaScript, with relative imports of JavaScript. */
export const clientModule = (path: string): string =>
  stripTypeScriptTypes(readFileSync(new URL(path.replace(/\.js$/, '.ts'), ROOT), 'utf8')).replaceAll(
    /(from '\.[^']+)\.ts'/g,
    "$1.js'",
  );

/** The import map of pages, if it is served below `/annals/`. */
export const IMPORT_MAP = JSON.stringify({
  imports: {
    'annals/client': '/annals/package/client.js',
    'annals/client/sign-in': '/annals/package/client-sign-in.js',
  },
});
