import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Asset, CSS, createAsset, digestOf, JAVASCRIPT } from '../pages/asset.ts';

export type Application = {
  /** The module that starts it. */
  readonly start: Asset;
  readonly styles: readonly Asset[];
  readonly assets: readonly Asset[];
};

/** What of npm the modules import, and under which name a browser gets it. */
const LIBRARIES: Readonly<Record<string, { readonly name: string; readonly source: string }>> = {
  preact: { name: 'preact.js', source: 'preact' },
  'preact/hooks': { name: 'preact-hooks.js', source: 'preact/hooks' },
  htm: { name: 'htm.js', source: 'htm' },
  uplot: { name: 'uplot.js', source: 'uplot/dist/uPlot.esm.js' },
};

const ROOT = new URL('./app/', import.meta.url);
const PAGE = '/console';
const START = 'main.ts';
/** In this order: what comes later counts more. */
const STYLES = ['colours', 'both', 'frame', 'text', 'controls', 'overview', 'lists', 'item', 'narrow'];

/**
 * The modules of `app/` as browsers run them: without their types, which Node takes off as it does with ours, and with the names
 * of libraries as addresses. All are below one address that changes with any of them, so that they find each other.
 */
export const readApplication = (): Application => {
  const modules = globSync('**/*.ts', { cwd: fileURLToPath(ROOT), exclude: ['**/*.test.ts'] })
    .toSorted()
    .map((name) => ({ name, type: JAVASCRIPT, text: toBrowser(name, stripTypes(read(new URL(name, ROOT)))) }));
  const libraries = Object.values(LIBRARIES).map(({ name, source }) => ({
    name,
    type: JAVASCRIPT,
    text: toBrowser(name, readPackage(source)),
  }));
  const styles = [
    { name: 'uplot.css', type: CSS, text: readPackage('uplot/dist/uPlot.min.css') },
    { name: 'console.css', type: CSS, text: STYLES.map((name) => read(new URL(`style/${name}.css`, ROOT))).join('\n') },
  ];
  const files = [...libraries, ...modules, ...styles];
  const digest = digestOf(files.map(({ name, text }) => `${name}\n${text}`).join('\n'));
  const assets = files.map(({ name, type, text }) => createAsset(PAGE, name, { type, bytes: Buffer.from(text) }, digest));
  const start = assets.find(({ path }) => path.endsWith(`/${digest}/${START}`));
  if (start === undefined) throw new Error(`the console has no ${START}`);
  return { start, styles: assets.filter(({ type }) => type === CSS), assets };
};

const read = (url: URL): string => readFileSync(url, 'utf8');
const readPackage = (specifier: string): string => read(new URL(import.meta.resolve(specifier)));

/** Node warns that this function may change; it is the one that runs our own sources, and operators can do nothing about it. */
const stripTypes = (source: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
};

const IMPORT = /^(\s*(?:import|export)\b[^'";]*?\bfrom\s*|\s*import\s*)(['"])([^'"]+)\2/gm;
/** As minified modules have it, within a line. */
const PACKED_IMPORT = /(\bfrom)(["'])(preact)\2/g;
const SOURCE_MAP = /^\/\/# sourceMappingURL=.*$/gm;

const toBrowser = (module: string, source: string): string => {
  const up = '../'.repeat(module.split('/').length - 1) || './';
  const addressed = (_whole: string, before: string, quote: string, specifier: string): string => {
    if (specifier.startsWith('.')) return `${before}${quote}${specifier}${quote}`;
    const library = LIBRARIES[specifier];
    if (library === undefined) throw new Error(`${module} of the console imports ${specifier}, which no browser finds`);
    return `${before}${quote}${up}${library.name}${quote}`;
  };
  return source.replace(SOURCE_MAP, '').replace(IMPORT, addressed).replace(PACKED_IMPORT, addressed);
};
