// Over 200 lines, because every file of the deployment is compared with the settings and ports that are read
// here.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { loadConfig } from '#process/load-config.ts';
import { SETTINGS } from '#process/settings.ts';

/**
 * Nobody can run this here without Docker; these tests check that the files of the deployment refer only to
 * existing things.
 */
const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map(([, name = '']) => name));

const Service = z.object({
  image: z.string(),
  build: z.string().optional(),
  pull_policy: z.string().optional(),
  logging: z.object({ options: z.object({ 'max-size': z.string(), 'max-file': z.string() }) }).optional(),
  deploy: z
    .object({
      resources: z.object({ limits: z.object({ cpus: z.string(), memory: z.string(), pids: z.number() }) }),
    })
    .optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z
    .union([z.array(z.string()), z.record(z.string(), z.object({ condition: z.string() }))])
    .default({}),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  profiles: z.array(z.string()).default([]),
});
const compose = read('docker-compose.yml');
const { services, volumes, secrets } = z
  .object({
    services: z.record(z.string(), Service),
    volumes: z.record(z.string(), z.null()),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
  })
  .parse(parse(compose, { merge: true, maxAliasCount: -1 }));
const roles = globSync('*/main.ts', { cwd: root }).map(dirname);
const ingress = services.ingress?.environment ?? {};
const example = new Map(
  [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

test('compose has a service for each role, which runs an existing file', () => {
  for (const role of roles) expect(services[role]?.command, role).toEqual([`${role}/main.ts`]);
  for (const { image, command } of Object.values(services)) {
    if (image === 'annals') expect(existsSync(join(root, command?.[0] ?? '')), command?.[0]).toBe(true);
  }
});

test('compose builds the image once, never pulls it, and limits every service', () => {
  const building = Object.entries(services).filter(([, { build }]) => build !== undefined);
  expect(building.map(([name]) => name)).toEqual(['prepare']);
  for (const [name, { image, pull_policy, logging, deploy }] of Object.entries(services)) {
    if (image === 'annals') expect(pull_policy, name).toBe('never');
    expect(logging, name).toBeDefined();
    expect(deploy?.resources.limits.pids, name).toBeGreaterThan(0);
  }
});

test("the audit's files are on a volume of their own, in a folder that the image gives to its user", () => {
  const { environment = {}, volumes: mounted = [] } = services.command ?? {};
  const folders: Record<string, string> = Object.fromEntries(mounted.map((volume) => volume.split(':')));
  expect(folders.audit).toBe(environment.AUDIT_DIR);
  expect(folders.data).toBe(/DATA_DIR=(\S+)/.exec(read('Dockerfile'))?.[1]);
  for (const folder of Object.values(folders)) {
    expect(read('Dockerfile')).toMatch(new RegExp(`chown 1000:1000 .*\\b${folder.slice(1)}(?: |$)`, 'm'));
    expect(read('Dockerfile')).toMatch(new RegExp(`^VOLUME .*"${folder}"`, 'm'));
  }
});

test("compose copies the audit's files from the former volume, without overwriting any", async () => {
  const { entrypoint: [shell = '', flags = '', script = ''] = [], command = [] } = services.prepare ?? {};
  const folder = await mkdtemp(join(tmpdir(), 'annals-audit-'));
  const here = script.replaceAll('$$', '$').replaceAll('/var/lib', folder).replace('exec node', 'echo');
  const prepare = () =>
    expect(String(execFileSync(shell, [flags, here, 'prepare', ...command]))).toBe(`${command.join(' ')}\n`);
  const write = (path: string, text: string) => writeFile(join(folder, path), text);
  const now = (name: string) => readFileSync(join(folder, 'annals-audit', name), 'utf8');
  try {
    await mkdir(join(folder, 'annals-audit'));
    prepare();
    await mkdir(join(folder, 'annals/audit/before'), { recursive: true });
    await write('annals/audit/erasures.jsonl', 'one\ntwo\n');
    await write('annals/audit/heads.jsonl', 'a head\n');
    await write('annals/audit/before/keys.jsonl', 'a key\n');
    await write('annals-audit/heads.jsonl', 'a head\nanother\n');
    prepare();
    expect([now('erasures.jsonl'), now('heads.jsonl'), now('before/keys.jsonl')]).toEqual([
      'one\ntwo\n',
      'a head\nanother\n',
      'a key\n',
    ]);
    await write('annals/audit/erasures.jsonl', 'one\ntwo\nthree\n');
    await write('annals-audit/erasures.jsonl', 'one\ntwo\nfour\n');
    prepare();
    prepare();
    expect(now('erasures.jsonl')).toBe('one\ntwo\nfour\nthree\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('compose waits only for existing services, and mounts only existing files and volumes', () => {
  for (const service of Object.values(services)) {
    for (const name of Array.isArray(service.depends_on)
      ? service.depends_on
      : Object.keys(service.depends_on))
      expect(services).toHaveProperty(name);
    for (const secret of service.secrets) expect(secrets).toHaveProperty(secret);
    for (const [source = ''] of service.volumes.map((volume) => volume.split(':'))) {
      expect(source.startsWith('./') ? existsSync(join(root, source)) : source in volumes, source).toBe(true);
    }
  }
});

test('compose gives the roles settings that they accept', () => {
  const made: Readonly<Record<string, string>> = {
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    CLIENT_CERT_SECRET: 'x'.repeat(48),
    DATABASE_URL: 'postgres://annals:x@postgres:5432/annals',
  };
  for (const role of roles) {
    const given = Object.entries(services[role]?.environment ?? {}).map(([name, value]) => {
      const isFile = name.endsWith('_FILE');
      const setting = isFile ? name.slice(0, -'_FILE'.length) : name;
      expect(SETTINGS).toHaveProperty(setting);
      if (isFile) expect(services[role]?.secrets).toContain(value.replace('/run/secrets/', ''));
      const filled = value.replaceAll(
        /\$\{(\w+)(?::-[^}]*|:\?[^}]*)\}/g,
        (_, variable) => example.get(variable) ?? '',
      );
      return [setting, isFile ? made[setting] : filled] as const;
    });
    expect(loadConfig(Object.fromEntries(given))).toMatchObject({
      environment: 'production',
      trustProxy: 1,
      publicUrl: example.get('PUBLIC_URL'),
      eventLogUrl: example.get('EVENT_LOG_URL'),
    });
  }
});

test('compose and .env.example name the same variables, and the profiles of the engines', () => {
  const profiles = new Set(Object.values(services).flatMap((service) => service.profiles));
  expect([...example.keys()].toSorted()).toEqual([...namesIn(compose), 'COMPOSE_PROFILES'].toSorted());
  for (const profile of example.get('COMPOSE_PROFILES')?.split(',') ?? [])
    expect(profiles).toContain(profile);
});

test('the script makes every secret that compose mounts, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-deploy-'));
  try {
    await mkdir(join(folder, 'deploy'));
    await copyFile(join(root, 'deploy/make-secrets.sh'), join(folder, 'deploy/make-secrets.sh'));
    const makeSecrets = () =>
      execFileSync('sh', [join(folder, 'deploy/make-secrets.sh')], { encoding: 'utf8' });
    const contents = () => Object.values(secrets).map(({ file }) => readFileSync(join(folder, file), 'utf8'));
    makeSecrets();
    const first = contents();
    expect(makeSecrets()).toMatch(/master_key already exists/);
    expect(contents()).toEqual(first);
    const environment = { NODE_ENV: 'production', PUBLIC_URL: 'https://annals.example', TRUST_PROXY: '1' };
    const files = ['master_key', 'database_url', 'client_cert_secret'].map((name) => [
      `${name.toUpperCase()}_FILE`,
      join(folder, secrets[name]?.file ?? ''),
    ]);
    expect(loadConfig({ ...environment, ...Object.fromEntries(files) }).databaseUrl).toMatch(
      /^postgres:\/\/annals:[0-9a-f]{48}@postgres:5432\/annals$/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('alerts and plots name only existing metrics, and each alert has a runbook', () => {
  const sources = globSync(
    '{adapters,auth,command,console,edge,inbox,process,projector,proof,query,shared,webhook-dispatcher}/**/*.ts',
    {
      cwd: root,
    },
  )
    .map(read)
    .join('\n');
  const kept = new Set([...sources.matchAll(/'(annals_[a-z_]+)'/g)].map(([, name = '']) => name));
  const alerts = z
    .object({
      groups: z.array(
        z.object({
          rules: z.array(
            z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ runbook: z.string() }) }),
          ),
        }),
      ),
    })
    .parse(parse(read('deploy/prometheus/alerts.yml')))
    .groups.flatMap(({ rules }) => rules);
  const shown = read('deploy/grafana/dashboards/annals.json');
  const headings = [...read('docs/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading);
  for (const text of [shown, ...alerts.map(({ expr }) => expr)]) {
    for (const [name] of text.matchAll(/\bannals_[a-z_]+/g))
      expect(kept).toContain(name.replace(/_(?:bucket|count|sum)$/, ''));
  }
  expect(headings).toEqual(alerts.map(({ alert }) => alert));
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
});

test('the ingress gets all variables of its configuration, and the addresses of the roles', () => {
  const filter = new RegExp((ingress.NGINX_ENVSUBST_FILTER ?? '').replaceAll('$$', '$'));
  const begin = services.ingress?.entrypoint?.at(-1) ?? '';
  const fromFile = [...begin.matchAll(/^export (\w+)$/gm)].map(([, name]) => name);
  for (const name of namesIn(read('deploy/nginx.conf'))) {
    if (!fromFile.includes(name)) expect(ingress).toHaveProperty(name);
    expect(name).toMatch(filter);
  }
  const { fallback: port } = SETTINGS.PORT;
  for (const [name, value] of Object.entries(ingress).filter(([each]) => each.endsWith('_SERVERS'))) {
    expect(value).toBe(
      `server ${name.replace('_SERVERS', '').toLowerCase().replaceAll('_', '-')}:${port} resolve max_fails=1 fail_timeout=1s;`,
    );
  }
  expect(services.query?.environment).toMatchObject({
    COMMAND_URL: `http://command:${SETTINGS.INTERNAL_PORT.fallback}`,
    JWKS_URL: `http://auth:${port}/jwks`,
    HEADER_BYTES_MAX: '32768',
  });
});

test('the ingress needs its secret to start', async () => {
  const [shell = '', flags = '', script = ''] = services.ingress?.entrypoint ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'annals-ingress-'));
  const here = script
    .replaceAll('$$', '$')
    .replaceAll('/run/secrets', folder)
    .replace('/docker-entrypoint.sh', 'printf "%s|" "$CLIENT_CERT_SECRET"');
  try {
    expect(() => execFileSync(shell, [flags, here], { stdio: 'pipe' })).toThrow();
    await writeFile(join(folder, 'client_cert_secret'), 'of the file\n');
    expect(String(execFileSync(shell, [flags, here]))).toBe(
      'of the file|nginx|-c|/tmp/nginx.conf|-g|daemon off;|',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the image has the Node of package.json, every role, and the ports of the settings', () => {
  const dockerfile = read('Dockerfile');
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  expect(/^ARG NODE=(.*)$/m.exec(dockerfile)?.[1]).toBe(dependencies.node);
  const kept = read('.dockerignore').split('\n');
  for (const path of [
    ...roles,
    'proof',
    'kernel',
    'adapters',
    'console',
    'site',
    'edge',
    'process',
    'domain',
    'shared',
    'main.ts',
    'annals.ts',
    'command-line',
  ])
    expect(kept).toContain(`!${path}`);
  expect(dockerfile).toContain(`http://127.0.0.1:\${PORT:-${SETTINGS.PORT.fallback}}/readyz`);
  expect(dockerfile).toContain(
    `EXPOSE ${SETTINGS.PORT.fallback} ${SETTINGS.METRICS_PORT.fallback} ${SETTINGS.INTERNAL_PORT.fallback}`,
  );
});

test.each(['main.ts', 'annals.ts'])('the image has what %s imports', (entry) => {
  const kept = read('.dockerignore').split('\n');
  const files = [entry];
  for (const file of files) {
    expect(kept, file).toContain(`!${file}`);
    for (const [, path = ''] of read(file).matchAll(/\b(?:from|import\() ?'(?:\.\/|#)([^']+)'/g)) {
      const [folder = '', ...inside] = path.split('/');
      if (inside.length > 0) expect(kept, path).toContain(`!${folder}`);
      else if (!files.includes(path)) files.push(path);
    }
  }
});

test('a release has one version, for the platforms of docker-bake.hcl', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(parse(read('deploy/helm/annals/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  const bake = read('docker-bake.hcl');
  expect(bake).toContain(`variable "VERSION" { default = "${version}" }`);
  const workflow = z
    .object({
      jobs: z.object({
        publish: z.object({
          env: z.record(z.string(), z.string()),
          steps: z.array(z.looseObject({ uses: z.string().optional() })),
        }),
      }),
    })
    .parse(parse(read('.github/workflows/release.yml')));
  const { env, steps } = workflow.jobs.publish;
  const given = new Set([...Object.keys(env), 'VERSION']);
  for (const [, name = ''] of bake.matchAll(/^variable "(\w+)"/gm)) expect(given).toContain(name);
  const { files, targets } = z
    .object({ files: z.string(), targets: z.string() })
    .parse(steps.find(({ uses }) => uses?.startsWith('docker/bake-action@'))?.with);
  expect(read(files)).toMatch(
    new RegExp(
      `^target "${targets}" [{][\\s\\S]*"linux/amd64", "linux/arm64"[\\s\\S]*type=sbom[\\s\\S]*type=provenance`,
      'm',
    ),
  );
});
