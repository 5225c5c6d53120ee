import { readFileSync } from 'node:fs';
import { type Asset, CSS, createAsset, JAVASCRIPT } from '../pages/asset.ts';

const readAsset = (name: string, type: string, url: string | URL): Asset =>
  createAsset('/docs', name, { type, bytes: readFileSync(new URL(url)) });

const own = (name: string): URL => new URL(name, import.meta.url);

/** Everything that the page loads: nothing comes from elsewhere. */
export const readAssets = () => ({
  bundle: readAsset('swagger-ui.js', JAVASCRIPT, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  start: readAsset('start.js', JAVASCRIPT, own('./start.js')),
  theme: readAsset('swagger-ui.css', CSS, import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  style: readAsset('page.css', CSS, own('./page.css')),
  redirect: readAsset('oauth2-redirect.js', JAVASCRIPT, import.meta.resolve('swagger-ui-dist/oauth2-redirect.js')),
});

export type Assets = ReturnType<typeof readAssets>;
