// Over 200 lines, because every setting of the chart is checked against what one build of it renders.
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { loadConfig } from '#process/load-config.ts';
import { SETTINGS } from '#process/settings.ts';
import { scaled } from '../testing/load.ts';
import { KUBERNETES_PAGE, PUBLIC_URL, VALUES } from './engines/chart-values.ts';
import { callHelm, helmMissing, installHelm, readSchemas, schemasMissing } from './engines/helm.ts';

/**
 * Renders the chart with Helm, and checks it against Kubernetes' schemas and the code. It needs no cluster:
 * `test/kubernetes` installs the chart in one.
 */
if (helmMissing !== undefined)
  process.stderr.write(`test/helm.engine.test.ts: left out, because ${helmMissing}.\n`);
if (schemasMissing !== undefined)
  process.stderr.write(
    `test/helm.engine.test.ts: not held against the schemas of Kubernetes: ${schemasMissing}.\n`,
  );

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const roles = globSync('*/main.ts', { cwd: root }).map(dirname);
const portOf = {
  http: SETTINGS.PORT.fallback,
  metrics: SETTINGS.METRICS_PORT.fallback,
  commands: SETTINGS.INTERNAL_PORT.fallback,
};

const SECRETS: Readonly<Record<string, string>> = {
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  CLIENT_CERT_SECRET: 'x'.repeat(48),
  DATABASE_URL: 'postgres://annals:x@postgres/annals',
  EVENT_LOG_URL: 'esdb://user:x@one:2113,two:2113',
  READ_DATABASE_URL: 'postgres://annals:x@one/annals,postgres://annals:x@two/annals',
  JOB_QUEUE_URL: 'redis://redis',
  RATE_LIMIT_URL: 'redis://redis',
  MAIL_URL: 'smtps://mail.example',
};

const Labels = z.record(z.string(), z.string());
const Item = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), labels: Labels }),
  spec: z.any().optional(),
  data: z.record(z.string(), z.string()).optional(),
});
type Manifest = z.output<typeof Item>;

const Container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  ports: z
    .array(z.object({ name: z.enum(['http', 'metrics', 'commands']), containerPort: z.number() }))
    .default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const containerOf = (manifest: Manifest | undefined) =>
  Container.parse(manifest?.spec.template.spec.containers[0]);
const isOwn = ({ apiVersion }: Manifest): boolean => !/coreos|keda|gateway\./.test(apiVersion);
const within = (some: object, all: object): boolean =>
  Object.entries(some).every(([name, value]) =>
    Object.entries(all).some(([other, its]) => other === name && its === value),
  );

describe.skipIf(helmMissing !== undefined)('the chart', () => {
  let folder: string;
  let helm: string;
  const rendered = new Map<string, readonly Manifest[]>();

  const render = async (name: string, values: object): Promise<readonly Manifest[]> => {
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(values));
    const text = await callHelm(
      helm,
      'template',
      'annals',
      '<chart>',
      '--namespace',
      'here',
      '--values',
      file,
    );
    return parseAllDocuments(text).map((document) => Item.parse(document.toJS()));
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'annals-helm-'));
    helm = await installHelm();
    for (const [name, values] of Object.entries(VALUES)) rendered.set(name, await render(name, values));
  }, scaled(900_000));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const all = (): (readonly [string, readonly Manifest[]])[] => [...rendered];
  const of = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
    manifests.filter((each) => each.kind === kind);
  const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest | undefined =>
    of(manifests, kind).find(({ metadata }) => metadata.name === name);
  const manifestsOf = (name: keyof typeof VALUES): readonly Manifest[] => rendered.get(name) ?? [];

  test('passes helm lint with each set of values', async () => {
    for (const name of Object.keys(VALUES))
      expect(
        await callHelm(helm, 'lint', '<chart>', '--strict', '--values', join(folder, `${name}.json`)),
      ).toContain('0 chart(s) failed');
  });

  test.skipIf(schemasMissing !== undefined)(
    'renders valid Kubernetes manifests',
    async () => {
      const schemaOf = await readSchemas();
      for (const [name, manifests] of all()) {
        expect(manifests.length).toBeGreaterThan(15);
        for (const manifest of manifests.filter(isOwn)) {
          const validate = await schemaOf(manifest.kind, manifest.apiVersion);
          validate(manifest);
          expect(validate.errors ?? [], `${name}: ${manifest.kind} ${manifest.metadata.name}`).toEqual([]);
        }
      }
      const mistaken = structuredClone(named(manifestsOf('least'), 'Deployment', 'annals-query'));
      mistaken?.spec.template.spec.containers.push({ name: 'other', readynessProbe: {} });
      const validate = await schemaOf('Deployment', 'apps/v1');
      expect(validate(mistaken)).toBe(false);
    },
    scaled(300_000),
  );

  test.each([
    ['no address', {}],
    ['an address that is none', { publicUrl: 'annals.example' }],
    ['a value that there is not', { publicUrl: PUBLIC_URL, replicas: 3 }],
    ['a role that there is not', { publicUrl: PUBLIC_URL, roles: { reader: { replicas: 1 } } }],
    ['a setting that is no text', { publicUrl: PUBLIC_URL, settings: { RATE_LIMIT: 200 } }],
    ['a route that leads from nowhere', { publicUrl: PUBLIC_URL, gateway: { enabled: true } }],
    ['a secret that every role needs', { publicUrl: PUBLIC_URL, secrets: { keys: { MASTER_KEY: null } } }],
  ])('refuses %s', async (_what, values) => {
    await expect(render('refused', values)).rejects.toThrow(/values don't meet the specifications/);
  });

  test('has a Deployment for each role, on the ports of the settings, with the paths of health', () => {
    for (const [, manifests] of all()) {
      for (const role of roles) {
        const deployment = named(manifests, 'Deployment', `annals-${role}`);
        const { args, ports, ...container } = containerOf(deployment);
        expect(args).toEqual([`${role}/main.ts`]);
        for (const { name, containerPort } of ports) expect(String(containerPort)).toBe(portOf[name]);
        expect(ports.map(({ name }) => name)).toEqual([
          'http',
          'metrics',
          ...(role === 'command' ? ['commands'] : []),
        ]);
        expect(container).toMatchObject({
          startupProbe: { httpGet: { path: '/livez', port: 'http' } },
          livenessProbe: { httpGet: { path: '/livez', port: 'http' } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
        });
      }
    }
    expect(read('edge/http/health.ts')).toMatch(/\.get\('\/livez'[\s\S]*\.get\('\/readyz'/);
  });

  test('gives each pod the time that one migration may take before it listens', () => {
    const mayTake = Number(
      /MIGRATION_TIMEOUT_MS = ([\d_]+);/.exec(read('shared/database/migrate.ts'))?.[1]?.replaceAll('_', ''),
    );
    for (const role of roles) {
      const { startupProbe } = containerOf(named(manifestsOf('least'), 'Deployment', `annals-${role}`));
      const { periodSeconds, failureThreshold } = z
        .object({ periodSeconds: z.number(), failureThreshold: z.number() })
        .parse(startupProbe);
      expect(periodSeconds * failureThreshold * 1_000, role).toBeGreaterThan(mayTake);
    }
  });

  test('has the Job do what its texts say: only the first key', () => {
    const [job] = of(manifestsOf('least'), 'Job');
    expect(containerOf(job).args).toEqual(['annals.ts', 'keys', 'rotate', '--first']);
    const [keysRotate = ''] =
      /^export const keysRotate\b.*?^};$/ms.exec(read('command-line/keys-rotate.ts')) ?? [];
    expect(keysRotate.match(/\bmigrate\w+\(/g)).toEqual(['migrateSigningKeys(']);
  });

  test('gives the roles and the migrations valid settings, and secrets from mounted files', () => {
    for (const [name, manifests] of all()) {
      const pods = [
        ...roles.map((role) => named(manifests, 'Deployment', `annals-${role}`)),
        ...of(manifests, 'Job'),
      ];
      for (const pod of pods) {
        const mounted = pod?.spec.template.spec.volumes.find(
          (volume: { name: string }) => volume.name === 'secrets',
        ).secret.items;
        const given = containerOf(pod).env.map(({ name: setting, value }) => {
          if (!setting.endsWith('_FILE')) return [setting, value] as const;
          expect(mounted.map(({ path }: { path: string }) => `/run/secrets/annals/${path}`)).toContain(value);
          return [setting.replace('_FILE', ''), SECRETS[setting.replace('_FILE', '')]] as const;
        });
        expect(new Set(given.map(([setting]) => setting)).size).toBe(given.length);
        for (const [setting] of given) expect(SETTINGS).toHaveProperty(setting);
        const config = loadConfig({ NODE_ENV: 'production', ...Object.fromEntries(given) });
        expect(config).toMatchObject({
          publicUrl: VALUES[name as keyof typeof VALUES].publicUrl,
          trustProxy: 1,
        });
        const { preStopSeconds } = parse(read('deploy/helm/annals/values.yaml')) as {
          preStopSeconds: number;
        };
        if (pod?.kind === 'Deployment')
          expect(pod.spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
            preStopSeconds * 1_000 + config.drainMs,
          );
      }
    }
  });

  test('the page makes the Secret that its values name, and its ingress admits what the router accepts', () => {
    const made = [...KUBERNETES_PAGE.matchAll(/--from-literal=(\w+)=/g)].map(([, key = '']) => key);
    expect(made.toSorted()).toEqual(Object.values(VALUES.page.secrets.keys).toSorted());
    const most = Math.max(
      ...[...read('deploy/nginx.conf').matchAll(/client_max_body_size (\d+)m;/g)].map(([, size]) =>
        Number(size),
      ),
    );
    const [ingress] = of(manifestsOf('page'), 'Ingress');
    expect(ingress?.metadata.annotations).toEqual({
      'nginx.ingress.kubernetes.io/proxy-body-size': `${most}m`,
    });
  });

  test('lets the roles reach each other, and the router all of them, by names that resolve to their pods', () => {
    for (const [, manifests] of all()) {
      const leadsTo = (host: string, port: string) => {
        const service = named(manifests, 'Service', host.split('.')[0] ?? '');
        const pods = of(manifests, 'Deployment').filter(({ spec }) =>
          within(service?.spec.selector, spec.template.metadata.labels),
        );
        expect(
          pods.map(({ metadata }) => metadata.name),
          host,
        ).toEqual([service?.metadata.name]);
        const { targetPort } =
          service?.spec.ports.find((each: { port: number }) => String(each.port) === port) ?? {};
        expect(containerOf(pods[0]).ports.map(({ name }) => name)).toContain(targetPort);
        expect(service?.spec.clusterIP).toBe('None');
      };
      const environment = new Map(
        containerOf(named(manifests, 'Deployment', 'annals-query')).env.map(({ name, value }) => [
          name,
          value,
        ]),
      );
      for (const name of ['COMMAND_URL', 'JWKS_URL']) {
        const { hostname, port } = new URL(environment.get(name) ?? '');
        leadsTo(hostname, port);
      }
      const router = containerOf(named(manifests, 'Deployment', 'annals-router'));
      const given = new Map(router.env.map(({ name, value }) => [name, value]));
      for (const [, name = ''] of read('deploy/nginx.conf').matchAll(/(?<!\$)\$\{([A-Z_]+)/g)) {
        expect(name).toMatch(new RegExp(given.get('NGINX_ENVSUBST_FILTER') ?? ''));
        if (name === 'CLIENT_CERT_SECRET') continue;
        expect(given.has(name), name).toBe(true);
        const [, host = '', port = ''] = /^server (\S+):(\d+) resolve /.exec(given.get(name) ?? '') ?? [];
        if (name.endsWith('_SERVERS')) leadsTo(host, port);
      }
      expect(named(manifests, 'ConfigMap', 'annals-router')?.data?.['nginx.conf.template']).toBe(
        read('deploy/nginx.conf'),
      );
    }
  });

  test('selects, scales and protects only existing things', () => {
    for (const [name, manifests] of all()) {
      const pods = of(manifests, 'Deployment');
      const selects = (labels: object) =>
        expect(
          pods.some(({ spec }) => within(labels, spec.template.metadata.labels)),
          name,
        ).toBe(true);
      for (const { spec } of pods)
        expect(within(spec.selector.matchLabels, spec.template.metadata.labels)).toBe(true);
      for (const { spec } of of(manifests, 'PodDisruptionBudget')) selects(spec.selector.matchLabels);
      for (const { spec } of of(manifests, 'NetworkPolicy')) {
        selects(spec.podSelector.matchLabels);
        for (const { from = [] } of spec.ingress)
          for (const { podSelector } of from) if (podSelector) selects(podSelector.matchLabels);
      }
      const scaled = [...of(manifests, 'HorizontalPodAutoscaler'), ...of(manifests, 'ScaledObject')].map(
        ({ spec }) => spec.scaleTargetRef.name,
      );
      for (const each of scaled)
        expect(named(manifests, 'Deployment', each)?.spec).not.toHaveProperty('replicas');
      for (const { metadata, spec } of pods)
        if (!scaled.includes(metadata.name)) expect(spec.replicas).toBeGreaterThan(0);
    }
    expect(of(manifestsOf('whole'), 'HorizontalPodAutoscaler')).toHaveLength(3);
    expect(of(manifestsOf('gateway'), 'ScaledObject')).toHaveLength(1);
    for (const text of [
      JSON.stringify(of(manifestsOf('whole'), 'HorizontalPodAutoscaler')),
      JSON.stringify(of(manifestsOf('gateway'), 'ScaledObject')),
    ])
      for (const [metric] of [...text.matchAll(/annals_\w+/g)])
        expect(read('webhook-dispatcher/observe.ts')).toContain(`'${metric}'`);
  });

  test('lets only the roles that send commands reach the port for them', () => {
    for (const role of roles) {
      const { spec } = named(manifestsOf('least'), 'NetworkPolicy', `annals-${role}`) ?? {};
      const rule = spec.ingress.find(({ ports }: { ports: { port: string }[] }) =>
        ports.some(({ port }) => port === 'commands'),
      );
      const from = rule?.from.map(
        (each: { podSelector: { matchLabels: Record<string, string> } }) =>
          each.podSelector.matchLabels['app.kubernetes.io/component'],
      );
      const senders = roles.filter((each) => read(`${each}/role.ts`).includes('createHttpGateway'));
      expect(from?.toSorted()).toEqual(role === 'command' ? senders.toSorted() : undefined);
    }
  });

  test('retries at the gateway only requests that are safe to repeat', () => {
    const [route] = of(manifestsOf('gateway'), 'HTTPRoute');
    const rules = z
      .array(
        z.looseObject({
          matches: z.array(z.looseObject({ method: z.string().optional() })),
          retry: z.object({ codes: z.array(z.number()) }).optional(),
        }),
      )
      .parse(route?.spec.rules);
    for (const { matches, retry } of rules)
      if (retry !== undefined)
        for (const { method } of matches)
          expect(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']).toContain(method);
    // All other requests take the same route, and are not retried.
    expect(rules.at(-1)).toMatchObject({ matches: [{ path: { type: 'PathPrefix', value: '/' } }] });
    expect(rules.at(-1)).not.toHaveProperty('retry');
    expect(route?.spec.hostnames).toEqual(['annals.example']);
    for (const { backendRefs } of route?.spec.rules ?? [])
      for (const { name, port } of backendRefs)
        expect(named(manifestsOf('gateway'), 'Service', name)?.spec.ports).toMatchObject([{ port }]);
  });

  test('has the same alerts and dashboard as compose, and reads the metrics of the roles', () => {
    const manifests = manifestsOf('whole');
    expect(of(manifests, 'PrometheusRule')[0]?.spec).toEqual(parse(read('deploy/prometheus/alerts.yml')));
    expect(named(manifests, 'ConfigMap', 'annals-dashboard')?.data?.['annals.json']).toBe(
      read('deploy/grafana/dashboards/annals.json'),
    );
    const [monitor] = of(manifests, 'ServiceMonitor');
    for (const role of roles) {
      const service = named(manifests, 'Service', `annals-${role}`);
      expect(within(monitor?.spec.selector.matchLabels, service?.metadata.labels ?? {})).toBe(true);
      expect(service?.spec.ports.map(({ name }: { name: string }) => name)).toContain(
        monitor?.spec.endpoints[0].port,
      );
    }
  });

  test('runs as the user of the image, and stores data in the folder of the image', () => {
    const dockerfile = read('Dockerfile');
    for (const role of roles) {
      const { spec } = named(manifestsOf('least'), 'Deployment', `annals-${role}`)?.spec.template ?? {};
      expect(dockerfile).toContain(
        `USER ${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`,
      );
      const [data] = containerOf(named(manifestsOf('least'), 'Deployment', `annals-${role}`)).volumeMounts;
      expect(dockerfile).toContain(`DATA_DIR=${data?.mountPath} `);
    }
  });
});
