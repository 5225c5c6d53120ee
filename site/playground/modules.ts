import { readFileSync } from 'node:fs';
import { type Asset, createAsset, digestOf, JAVASCRIPT } from '#edge/pages/asset.ts';
import { stripTypes } from '#edge/pages/strip-types.ts';

/** The modules of the playground, with those of `annals/client` that they import, at one base address. */
type Modules = { readonly all: readonly Asset[]; named(name: string): Asset };

const ROOT = new URL('../../', import.meta.url);
/** In the package, all modules are compiled, like this one. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
/** The scripts of the page, as they are; they stand beside the folder of the client. */
const SCRIPTS = ['playground.js', 'run.js'] as const;
const IMPORT = /(\bfrom\s*['"])(\.[^'"]+?)(?:\.ts|\.js)(['"])/g;

export const readModules = (): Modules => {
  const texts = new Map<string, string>(
    SCRIPTS.map((name) => [name, readFileSync(new URL(name, import.meta.url), 'utf8')]),
  );
  // The walk includes the imports that it adds.
  for (const [name, text] of texts)
    for (const [, , specifier = ''] of text.matchAll(IMPORT)) {
      const path = new URL(`${specifier}.js`, `file:///${name}`).pathname.slice(1);
      if (!texts.has(path)) texts.set(path, moduleAt(path));
    }
  const digest = digestOf([...texts].flat().join('\n'));
  const all = [...texts].map(([name, text]) =>
    createAsset('/docs', name, { type: JAVASCRIPT, bytes: Buffer.from(text) }, digest),
  );
  return {
    all,
    named(name) {
      const asset = all.find(({ path }) => path.endsWith(`/${digest}/${name}`));
      if (asset === undefined) throw new Error(`the playground has no ${name}`);
      return asset;
    },
  };
};

const moduleAt = (path: string): string =>
  stripTypes(readFileSync(new URL(path.replace(/\.js$/, EXTENSION), ROOT), 'utf8')).replaceAll(
    IMPORT,
    '$1$2.js$3',
  );
