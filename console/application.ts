import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Asset, CSS, createAsset, digestOf, JAVASCRIPT } from '#edge/pages/asset.ts';
import { stripTypes } from '#edge/pages/strip-types.ts';

export type Application = {
  /** The entry module. */
  readonly start: Asset;
  readonly styles: readonly Asset[];
  readonly assets: readonly Asset[];
  /** Those that a page does not load before it runs. */
  readonly later: readonly Asset[];
};

type Library = {
  readonly name: string;
  readonly source: string;
  /** The variable that a classic script declares; modules have exports of their own. */
  readonly exports?: string;
  /** Only pages that need it load it. */
  readonly isLazy?: boolean;
};

/** The npm packages that the modules import, with the file names that browsers get. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  preact: { name: 'preact.js', source: 'preact' },
  'preact/hooks': { name: 'preact-hooks.js', source: 'preact/hooks' },
  htm: { name: 'htm.js', source: 'htm' },
  marked: { name: 'marked.js', source: 'marked', isLazy: true },
  // Its module is not minified, and half as large again.
  uplot: { name: 'uplot.js', source: 'uplot/dist/uPlot.iife.min.js', exports: 'uPlot', isLazy: true },
};

/** Lazy libraries, and the modules that import them. */
const LATER: readonly string[] = [
  ...Object.values(LIBRARIES).flatMap(({ name, isLazy }) => (isLazy ? [name] : [])),
  'markdown/tree.ts',
  'overview/draw.ts',
];

/** Modules shared with the server; in the package they are compiled, like this one. */
const SHARED: readonly string[] = ['format', 'installation-health', 'line-diff'];
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const sharedUrl = (name: string): URL => new URL(`../shared/${name}${EXTENSION}`, import.meta.url);

const ROOT = new URL('./app/', import.meta.url);
/** The address of the console; its modules are below it. */
export const PAGE = '/console';
const START = 'boot.ts';
/** In the order of the cascade. */
const STYLES = [
  'colours',
  'both',
  'frame',
  'text',
  'controls',
  'overlays',
  'overview',
  'lists',
  'item',
  'data',
  'editor',
  'events',
  'develop',
  'narrow',
];

/**
 * The modules of `app/` as browsers run them. Node strips their types, as it does with ours, and imports of
 * packages become addresses. All modules share a base address that changes with any of them, so relative
 * imports work.
 */
export const readApplication = (): Application => {
  const modules = globSync('**/*.ts', { cwd: fileURLToPath(ROOT), exclude: ['**/*.test.ts'] })
    .toSorted()
    .map((name) => ({
      name,
      type: JAVASCRIPT,
      text: toBrowser(name, stripTypes(read(new URL(name, ROOT)))),
    }));
  const libraries = Object.values(LIBRARIES).map((library) => ({
    name: library.name,
    type: JAVASCRIPT,
    text: libraryText(library),
  }));
  const shared = SHARED.map((name) => ({
    name: `${name}.js`,
    type: JAVASCRIPT,
    text: toBrowser(`${name}.js`, stripTypes(read(sharedUrl(name)))),
  }));
  const styles = [
    { name: 'uplot.css', type: CSS, text: readPackage('uplot/dist/uPlot.min.css') },
    {
      name: 'console.css',
      type: CSS,
      text: STYLES.map((name) => read(new URL(`style/${name}.css`, ROOT))).join('\n'),
    },
  ];
  const files = [...libraries, ...shared, ...modules, ...styles];
  const digest = digestOf(files.map(({ name, text }) => `${name}\n${text}`).join('\n'));
  const assets = files.map(({ name, type, text }) =>
    createAsset(PAGE, name, { type, bytes: Buffer.from(text) }, digest),
  );
  const start = assets.find(({ path }) => path.endsWith(`/${digest}/${START}`));
  if (start === undefined) throw new Error(`the console has no ${START}`);
  const isLater = ({ path }: Asset): boolean => LATER.some((name) => path.endsWith(`/${digest}/${name}`));
  return {
    start,
    styles: assets.filter(({ type }) => type === CSS),
    assets,
    later: assets.filter(isLater),
  };
};

const libraryText = ({ name, source, exports }: Library): string =>
  exports === undefined
    ? toBrowser(name, stripTypes(readPackage(source)))
    : `${readPackage(source)}\nexport default ${exports};\n`;

const read = (url: URL): string => readFileSync(url, 'utf8');
const readPackage = (specifier: string): string => read(new URL(import.meta.resolve(specifier)));

const IMPORT = /^(\s*(?:import|export)\b[^'";]*?\bfrom\s*|\s*import\s*)(['"])([^'"]+)\2/gm;
/** An import in a minified module, in the middle of a line. */
const PACKED_IMPORT = /(\bfrom)(["'])(preact)\2/g;
const SOURCE_MAP = /^\/\/# sourceMappingURL=.*$/gm;

const toBrowser = (module: string, source: string): string => {
  const up = '../'.repeat(module.split('/').length - 1) || './';
  const addressed = (_whole: string, before: string, quote: string, specifier: string): string => {
    if (specifier.startsWith('.')) return `${before}${quote}${specifier}${quote}`;
    const [, common] = /^#shared\/([\w-]+)\.ts$/.exec(specifier) ?? [];
    const library =
      common !== undefined && SHARED.includes(common) ? { name: `${common}.js` } : LIBRARIES[specifier];
    if (library === undefined)
      throw new Error(`${module} of the console imports ${specifier}, which no browser finds`);
    return `${before}${quote}${up}${library.name}${quote}`;
  };
  return source.replace(SOURCE_MAP, '').replace(IMPORT, addressed).replace(PACKED_IMPORT, addressed);
};
