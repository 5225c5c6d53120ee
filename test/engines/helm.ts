import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as z from 'zod';

const run = promisify(execFile);
const VERSION = '4.3.1';
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const cache = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'annals', name);

const has = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

/** Why the chart cannot be rendered here; such tests are skipped. */
export const helmMissing: string | undefined =
  has('helm', 'version') || has('go', 'version')
    ? undefined
    : 'there is neither helm nor Go (apt-get install golang) to build it with';

/** Builds it once into the user's cache folder, unless it is there: takes minutes of CPU time. */
export const installHelm = async (): Promise<string> => {
  if (has('helm', 'version')) return 'helm';
  const folder = cache(`helm-${VERSION}`);
  const program = join(folder, 'helm');
  if (!existsSync(program))
    await run('go', ['install', `helm.sh/helm/v4/cmd/helm@v${VERSION}`], {
      env: { ...process.env, GOBIN: folder },
    });
  return program;
};

const CHART = join(import.meta.dirname, '../../deploy/helm/annals');

export const callHelm = async (program: string, ...args: readonly string[]): Promise<string> =>
  (
    await run(
      program,
      args.map((arg) => (arg === '<chart>' ? CHART : arg)),
      { maxBuffer: OUTPUT_BYTES_MAX },
    )
  ).stdout;

/** Why manifests are not checked against Kubernetes' schemas: these come in a Python package. */
export const schemasMissing: string | undefined = has('python3', '-m', 'pip', '--version')
  ? undefined
  : 'there is no python3 with pip';

const REQUIREMENTS = join(import.meta.dirname, 'kubernetes-schemas.txt');
/** The oldest version that the chart supports, which is in the package. */
const OLDEST = 'v1.30.0';

/** The schemas of Kubernetes' own kinds, in which an unknown field is an error. */
export const readSchemas = async (): Promise<
  (kind: string, apiVersion: string) => Promise<ValidateFunction>
> => {
  const [name = ''] = (await readFile(REQUIREMENTS, 'utf8')).split(' ');
  const folder = cache(name.replace('==', '-'));
  const schemas = join(folder, `kubernetes_validate/kubernetes-json-schema/${OLDEST}-local-strict`);
  if (!existsSync(schemas)) {
    await mkdir(folder, { recursive: true });
    const options = [
      '--quiet',
      '--disable-pip-version-check',
      '--root-user-action',
      'ignore',
      '--no-deps',
      '--require-hashes',
    ];
    await run('python3', [
      '-m',
      'pip',
      'install',
      ...options,
      '--upgrade',
      '--target',
      folder,
      '--requirement',
      REQUIREMENTS,
    ]);
  }
  const read = async (file: string) =>
    z.looseObject({ $id: z.string() }).parse(JSON.parse(await readFile(join(schemas, file), 'utf8')));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(
    await read('_definitions.json'),
  );
  return async (kind, apiVersion) => {
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const file = [kind.toLowerCase(), group.replace(/\..*/, ''), version].filter(Boolean).join('-');
    const schema = await read(`${file}.json`);
    return ajv.getSchema(schema.$id) ?? ajv.compile(schema);
  };
};

// CI builds it in parallel with work that leaves it a core.
if (import.meta.main) await installHelm();
