import { readFileSync } from 'node:fs';
import { type BundledFiles, bundledFiles } from '#edge/pages/bundled.ts';

const NAMES = ['bundle.js', 'style.css', 'oauth2-redirect.js'] as const;

type SwaggerUi = BundledFiles<(typeof NAMES)[number]>;

/** Lets readers try an operation. */
export const readSwaggerUi = (): SwaggerUi => bundledFiles('swagger-ui', NAMES) ?? swaggerUiOfPackage();

export const swaggerUiOfPackage = (): SwaggerUi => ({
  'bundle.js': read(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  'style.css': read(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  'oauth2-redirect.js': read(import.meta.resolve('swagger-ui-dist/oauth2-redirect.js')),
});

const read = (url: string): Buffer => readFileSync(new URL(url));
