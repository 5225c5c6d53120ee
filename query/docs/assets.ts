import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file of the page, under an address that changes with its bytes. */
export type Asset = {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** Made once, when somebody first asks for it. */
  gzipped(): Promise<Buffer>;
};

const DIGEST_CHARACTERS = 16;
const GZIP_LEVEL = 9;
const compress = promisify(gzip);

const readAsset = (name: string, type: string, url: string | URL): Asset => {
  const bytes = readFileSync(new URL(url));
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, DIGEST_CHARACTERS);
  let gzipped: Promise<Buffer> | undefined;
  return {
    path: `/docs/assets/${digest}/${name}`,
    type,
    bytes,
    gzipped() {
      gzipped ??= compress(bytes, { level: GZIP_LEVEL });
      return gzipped;
    },
  };
};

const JAVASCRIPT = 'text/javascript';
const CSS = 'text/css';
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
