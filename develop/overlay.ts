import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Texts of files by absolute path, which are loaded instead of those on the disk. */
export type Overlay = Readonly<Record<string, string>>;

/** From now on, this process loads these texts. */
export const layOver = (overlay: Overlay): void => {
  const texts = new Map(Object.entries(overlay).map(([path, text]) => [pathToFileURL(path).href, text]));
  registerHooks({
    resolve(specifier, context, next) {
      const url = specifier.startsWith('.') && URL.parse(specifier, context.parentURL)?.href;
      return url && texts.has(url) ? { url, format: FORMAT, shortCircuit: true } : next(specifier, context);
    },
    load(url, context, next) {
      const source = texts.get(url);
      return source === undefined ? next(url, context) : { source, format: FORMAT, shortCircuit: true };
    },
  });
};

const FORMAT = 'module-typescript';
