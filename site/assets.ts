import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Asset, CSS, createAsset, JAVASCRIPT, SVG } from '#edge/pages/asset.ts';
import { readSwaggerUi } from './swagger-ui.ts';

export type Assets = {
  readonly all: readonly Asset[];
  named(name: string): Asset;
};

const DOCS = new URL('../docs/', import.meta.url);
const own = (...names: readonly string[]): Buffer =>
  Buffer.concat(names.map((name) => readFileSync(new URL(name, import.meta.url))));
/** Each caller names its package in full, so that tools see that the package is used. */
const ofPackage = (url: string): Buffer => readFileSync(new URL(url));

/** Shared with the console. */
const STYLES = ['../console/app/style/colours.css', '../console/app/style/both.css'] as const;

/** Everything that the pages load: nothing comes from elsewhere. */
export const readAssets = (): Assets => {
  const swaggerUi = readSwaggerUi();
  const files: Readonly<Record<string, readonly [type: string, bytes: Buffer]>> = {
    'docs.css': [
      CSS,
      own(
        ...STYLES,
        './style/frame.css',
        './search/search.css',
        './style/text.css',
        './style/code.css',
        './style/parts.css',
        './style/print.css',
      ),
    ],
    'navigation.js': [JAVASCRIPT, own('./style/navigation.js')],
    'copy.js': [JAVASCRIPT, own('./style/copy.js')],
    'tabs.js': [JAVASCRIPT, own('./style/tabs.js')],
    'search.js': [JAVASCRIPT, own('./search/search.js')],
    'minisearch.js': [JAVASCRIPT, ofPackage(import.meta.resolve('minisearch'))],
    'filter.js': [JAVASCRIPT, own('./style/filter.js')],
    'former-address.js': [JAVASCRIPT, own('./rest/former-address.js')],
    'chosen.js': [JAVASCRIPT, own('./rest/chosen.js')],
    'try.js': [JAVASCRIPT, own('./rest/try.js')],
    'rest.css': [CSS, own('./rest/page.css')],
    'playground.css': [CSS, own('./playground/playground.css')],
    'swagger-ui.js': [JAVASCRIPT, swaggerUi['bundle.js']],
    'swagger-ui.css': [CSS, Buffer.concat([swaggerUi['style.css'], own('./rest/try.css')])],
    'oauth2-redirect.js': [JAVASCRIPT, swaggerUi['oauth2-redirect.js']],
    ...Object.fromEntries(
      globSync('*.svg', { cwd: fileURLToPath(DOCS) }).map((name) => [
        name,
        [SVG, readFileSync(new URL(name, DOCS))],
      ]),
    ),
  };
  const assets = new Map(
    Object.entries(files).map(([name, [type, bytes]]) => [name, createAsset('/docs', name, { type, bytes })]),
  );
  return {
    all: [...assets.values()],
    named(name) {
      const asset = assets.get(name);
      if (asset === undefined) throw new Error(`the pages load ${name}, which does not exist`);
      return asset;
    },
  };
};
