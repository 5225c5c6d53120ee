import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const COMPILING_MS = 240_000;

const compile = async (project: string): Promise<string> => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return promisify(execFile)(process.execPath, [tsc, '-p', project]).then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  );
};

/** TanStack DB 0.15 compiles only with `skipLibCheck`: its own types break `exactOptionalPropertyTypes`. */
const OF_TANSTACK = /^(?:\.\.\/)*node_modules\/@tanstack\/.*\n(?: .*\n)*/gm;

/**
 * The compiler writes out a type that a module keeps to itself, and sometimes in a form that it refuses. Projects
 * check the types of what they import.
 */
test('the types of the package compile, as projects get them', { timeout: COMPILING_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-types-'));
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
  const { exports, imports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const entries = Object.values<string>(exports);
  const sources = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
      ...{ rootDir: ROOT, outDir: join(folder, 'types') },
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    files: entries.map((entry) => join(ROOT, entry)),
    // Modules that a package does not declare.
    include: [join(ROOT, '**/*.d.ts')],
  };
  await writeFile(join(folder, 'sources.json'), JSON.stringify(sources));
  expect(await compile(join(folder, 'sources.json'))).toBe('');

  await mkdir(join(folder, 'types'), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'types/node_modules'));
  const declared = Object.entries<string>(imports).map(([from, to]) => [`${from}.ts`, `${to}.d.ts`]);
  await writeFile(
    join(folder, 'types/package.json'),
    JSON.stringify({
      name: 'annals',
      type: 'module',
      imports: Object.fromEntries(declared),
      exports: Object.fromEntries(
        Object.entries<string>(exports).map(([as, entry]) => [
          as,
          { types: entry.replace(/\.ts$/, '.d.ts') },
        ]),
      ),
    }),
  );
  const project = JSON.parse(await readFile(join(ROOT, 'create/template/tsconfig.json'), 'utf8'));
  const types = { ...project, files: entries.map((entry) => entry.replace(/\.ts$/, '.d.ts')), include: [] };
  await writeFile(join(folder, 'types/tsconfig.json'), JSON.stringify(types));
  expect((await compile(join(folder, 'types'))).replaceAll(OF_TANSTACK, '')).toBe('');

  // The page of docs/tanstack.md is checked like a project of its reader.
  const page = 'docs/examples/tanstack';
  for (const path of [page, 'examples/expenses/domain'])
    await cp(join(ROOT, path), join(folder, 'types', path), { recursive: true });
  const ofPage = {
    ...project,
    compilerOptions: {
      ...project.compilerOptions,
      ...{
        lib: ['es2025', 'esnext.disposable', 'dom', 'dom.iterable'],
        jsx: 'react-jsx',
        skipLibCheck: true,
      },
    },
    include: [`../${page}/*`],
  };
  await mkdir(join(folder, 'types/of-page'));
  await writeFile(join(folder, 'types/of-page/tsconfig.json'), JSON.stringify(ofPage));
  expect(await compile(join(folder, 'types/of-page'))).toBe('');
});
