import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf } from './changelog.ts';

// Makes the files of a release in dist/ or the given folder: the tarballs of the npm packages, a CycloneDX
// SBOM of what `annals` installs, release notes, and checksums of all. `npm run release` calls it, on the
// commit that `npm version` made.

type Pinned = { readonly version: string; readonly integrity?: string };
type Manifest = {
  readonly dependenciesOfParts?: object;
  readonly bundled: Readonly<Record<string, string>>;
  readonly embeddedPostgres: Readonly<Record<string, Pinned>>;
};

const ROOT = join(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { untagged: { type: 'boolean', default: false } },
});
const folder = resolve(positionals[0] ?? join(ROOT, 'dist'));
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };

const stdoutOf = (command: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    maxBuffer: 2 ** 26,
  });
const fail = (sentence: string): never => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

if (!values.untagged) {
  if (stdoutOf('git', ['status', '--porcelain']) !== '')
    fail('There are uncommitted changes: commit them, because a release is made from a commit.');
  if (!stdoutOf('git', ['tag', '--points-at', 'HEAD']).split('\n').includes(`v${version}`)) {
    fail(`This commit has no tag v${version}: create one with npm version, or use --untagged.`);
  }
}
const notes = values.untagged
  ? undefined
  : notesOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);

execFileSync(process.execPath, ['scripts/package/build.ts', folder], { cwd: ROOT, stdio: ['ignore', 2, 2] });

/**
 * The SBOM of an installation with all parts and without other engines, resolved today. Packages of parts are
 * optional in it.
 */
const createSbom = async (): Promise<string> => {
  const { dependenciesOfParts, bundled, embeddedPostgres } = await manifestIn('package');
  const listed = join(ROOT, 'dist/sbom');
  await mkdir(listed, { recursive: true });
  const manifest = { ...(await manifestIn('package')), optionalDependencies: dependenciesOfParts };
  await writeFile(join(listed, 'package.json'), JSON.stringify(manifest));
  const quietly = ['--omit=dev', '--loglevel=error'];
  stdoutOf('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund', ...quietly], listed);
  const sbom = JSON.parse(
    stdoutOf('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', ...quietly], listed),
  );
  // npm names it after its folder.
  sbom.metadata.component.name = 'annals';
  for (const [name, version] of Object.entries(bundled)) sbom.components.push(componentOf(name, { version }));
  for (const [name, pinned] of Object.entries(embeddedPostgres))
    sbom.components.push({ ...componentOf(name, pinned), scope: 'optional' });
  return `${JSON.stringify(sbom, null, 2)}\n`;
};

/** Of one of the two packages that were built. */
const manifestIn = async (built: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(ROOT, 'dist', built, 'package.json'), 'utf8'));

/** A package that npm does not install: `annals` contains files of it, or fetches it at a first start. */
const componentOf = (name: string, { version, integrity }: Pinned) => ({
  'bom-ref': `${name}@${version}`,
  type: 'library',
  name,
  version,
  purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  ...(integrity && {
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') },
    ],
  }),
});

await writeFile(join(folder, `annals-${version}.cdx.json`), await createSbom());
if (notes !== undefined) await writeFile(join(folder, 'NOTES.md'), notes);

const files = (await readdir(folder)).filter(
  (name) => name.endsWith(`-${version}.tgz`) || name.endsWith('.cdx.json') || name === 'NOTES.md',
);
const sums = await Promise.all(
  files.toSorted().map(
    async (name) =>
      `${createHash('sha256')
        .update(await readFile(join(folder, name)))
        .digest('hex')}  ${name}\n`,
  ),
);
await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));

process.stdout.write(`${folder} has
${files.map((name) => `  ${name}\n`).join('')}  SHA256SUMS
To publish it:
  git push --follow-tags
  npm publish ${join(folder, `annals-${version}.tgz`)}
  npm publish ${join(folder, `create-annals-${version}.tgz`)}
`);
