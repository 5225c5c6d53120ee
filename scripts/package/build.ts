import { execFileSync } from 'node:child_process';
import { chmod, cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants as zlib } from 'node:zlib';
import type { BundledFiles } from '#edge/pages/bundled.ts';
import { editorOfPackage } from '../../query/graphql/graphiql/editor.ts';
import { swaggerUiOfPackage } from '../../site/swagger-ui.ts';
import { BUNDLED, manifestOf, manifestOfCreate, pathsOf, type Repository } from './manifest.ts';

// Builds the npm packages `annals` and `create-annals` in dist/, and their tarballs there or in the given
// folder: JavaScript and types for Node 22 and newer, without tests, benches and development tools. The
// repository itself runs its sources and needs none of it. `npm run package` calls it.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIST = join(ROOT, 'dist');
/**
 * The sources for the compiler: with relative imports only, so that the package needs no subpaths of its own.
 */
const SOURCES = join(DIST, 'sources');
const PACKAGE = join(DIST, 'package');
const [destination = DIST] = process.argv.slice(2);

const FOLDERS = [
  'adapters',
  'auth',
  'client',
  'command',
  'command-line',
  'console',
  'create',
  'develop',
  'docs',
  'domain',
  'edge',
  'inbox',
  'kernel',
  'mcp',
  'package',
  'process',
  'projector',
  'proof',
  'query',
  'shared',
  'site',
  'tanstack',
  'testing',
  'webhook-dispatcher',
];
const FILES = [
  'all-roles.ts',
  'developed.ts',
  'main.ts',
  'parts.ts',
  'served.ts',
  'start.ts',
  'workers.ts',
  'CHANGELOG.md',
  'LICENSE',
  'package.json',
];
const CREATE = 'create';
const TEMPLATE = `${CREATE}/template/`;
const LEFT_OUT =
  /^(?!create\/template\/).*\.test\.ts$|^domain\/contract\/|^shared\/events\/golden\/|^docs\/pictures\/|^package\/README\.md$|^\w[\w-]*\/main\.ts$/;
/** The console is served to browsers from its sources, and examples are read. */
const FOR_BROWSERS = /^(?:console\/app|docs\/examples)\//;

const listFiles = (): readonly string[] =>
  execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...FOLDERS, ...FILES],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((path) => path !== '' && !LEFT_OUT.test(path));

const SUBPATH = /(['"])#(adapters|domain|edge|kernel|process|shared)\/([^'"]+)\1/g;

/** In the form that the compiler rewrites to JavaScript. */
const withRelativeImports = (path: string, source: string): string =>
  source.replaceAll(SUBPATH, (_whole, quote: string, folder: string, rest: string) => {
    const target = relative(dirname(path), join(folder, rest));
    return `${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
  });

/** The served docs include the guides, whose readers import from the package. */
const withPackageImports = (text: string): string =>
  text
    .replaceAll("'#kernel/decide/given.ts'", "'annals/testing'")
    .replaceAll("'#kernel/sender/sender.ts'", "'annals/inbox'")
    .replaceAll(/'#kernel\/[\w/-]+\.ts'/g, "'annals'");

const compiled = (path: string): boolean =>
  path.endsWith('.ts') && !FOR_BROWSERS.test(path) && !path.startsWith(TEMPLATE);

const write = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
};

const CONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    noEmit: false,
    declaration: true,
    // Node 22 has no `using`.
    target: 'es2024',
    rewriteRelativeImportExtensions: true,
    rootDir: '.',
    outDir: '../package',
    typeRoots: ['../../node_modules/@types'],
  },
  include: ['**/*.ts'],
  exclude: [],
};

/** Drops type files that no export of the package reaches. */
const dropUnreachedTypes = async (repository: Repository): Promise<void> => {
  const reached = new Set<string>();
  const reach = async (path: string): Promise<void> => {
    if (reached.has(path)) return;
    reached.add(path);
    const text = await readFile(path, 'utf8');
    for (const [, to = ''] of text.matchAll(/['"](\.[^'"]+)\.ts['"]/g))
      await reach(join(dirname(path), `${to}.d.ts`));
  };
  for (const entry of pathsOf(repository)) await reach(join(PACKAGE, `${entry}.d.ts`));
  for await (const path of glob('**/*.d.ts', { cwd: PACKAGE }))
    if (!reached.has(join(PACKAGE, path))) await rm(join(PACKAGE, path));
};

const build = async (): Promise<void> => {
  await rm(DIST, { recursive: true, force: true });
  const files = listFiles();
  for (const path of files) {
    if (compiled(path))
      await write(join(SOURCES, path), withRelativeImports(path, await readFile(join(ROOT, path), 'utf8')));
    else if (path.endsWith('.md'))
      await write(join(PACKAGE, path), withPackageImports(await readFile(join(ROOT, path), 'utf8')));
    else {
      await mkdir(dirname(join(PACKAGE, path)), { recursive: true });
      await cp(join(ROOT, path), join(PACKAGE, path));
    }
  }
  await cp(join(ROOT, 'package.json'), join(SOURCES, 'package.json'));
  await write(join(SOURCES, 'tsconfig.json'), JSON.stringify(CONFIG));
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', SOURCES], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const repository: Repository = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await dropUnreachedTypes(repository);
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  await writeManifest(PACKAGE, manifestOf(repository, lock));
  await bundle('graphiql', await editorOfPackage());
  await bundle('swagger-ui', swaggerUiOfPackage());
  await cp(join(ROOT, 'package/README.md'), join(PACKAGE, 'README.md'));
  await chmod(join(PACKAGE, 'package/bin.js'), 0o755);
  await rm(SOURCES, { recursive: true });
  pack(PACKAGE);
  await buildCreate(repository);
};

/** Compressed, because GraphiQL has nine megabytes, and with the licences of the package that has the files. */
const bundle = async (folder: keyof typeof BUNDLED, files: BundledFiles<string>): Promise<void> => {
  const to = join(PACKAGE, 'bundled', folder);
  await mkdir(to, { recursive: true });
  const params = { [zlib.BROTLI_PARAM_LGWIN]: zlib.BROTLI_MAX_WINDOW_BITS };
  for (const [name, bytes] of Object.entries(files))
    await writeFile(join(to, `${name}.br`), brotliCompressSync(bytes, { params }));
  const from = join(ROOT, 'node_modules', BUNDLED[folder]);
  for await (const licence of glob('{LICENSE,NOTICE}*', { cwd: from }))
    await cp(join(from, licence), join(to, licence));
};

/** `create-annals` is a part of it with a package.json of its own. */
const buildCreate = async (repository: Repository): Promise<void> => {
  await cp(join(PACKAGE, CREATE), join(DIST, 'create', CREATE), { recursive: true });
  await writeManifest(join(DIST, 'create'), manifestOfCreate(repository));
  await chmod(join(DIST, 'create', CREATE, 'create-annals.js'), 0o755);
  pack(join(DIST, 'create'));
};

const writeManifest = (folder: string, manifest: object): Promise<void> =>
  write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const pack = (folder: string): void =>
  void execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });

await build();
