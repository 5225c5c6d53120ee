import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { loadConfig } from '#shared/config.ts';
import { SETTINGS } from '#shared/settings.ts';

/** What nobody can try here without Docker: that the files of deployment name only what there is. */
const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namesIn = (text: string): Set<string> => new Set([...text.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map(([, name = '']) => name));

const Service = z.object({
  image: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  volumes: z.array(z.string()).default([]),
});
const compose = read('docker-compose.yml');
const { services, volumes } = z
  .object({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(compose, { merge: true }));
const roles = globSync('*/main.ts', { cwd: root }).map(dirname);
const ingress = services.ingress?.environment ?? {};

test('compose has a service for each role, which runs a file that is there', () => {
  for (const role of roles) expect(services[role]?.command, role).toEqual([`${role}/main.ts`]);
  for (const { image, command } of Object.values(services)) {
    if (image === 'annals') expect(existsSync(join(root, command?.[0] ?? '')), command?.[0]).toBe(true);
  }
});

test('compose waits only for services that there are, and mounts only files and volumes that there are', () => {
  for (const service of Object.values(services)) {
    for (const name of Object.keys(service.depends_on)) expect(services).toHaveProperty(name);
    for (const [source = ''] of service.volumes.map((volume) => volume.split(':'))) {
      expect(source.startsWith('./') ? existsSync(join(root, source)) : source in volumes, source).toBe(true);
    }
  }
});

test('compose gives the roles settings that they accept', () => {
  const example = {
    PUBLIC_URL: 'https://annals.example',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    CLIENT_CERT_SECRET: 'x'.repeat(48),
  };
  for (const role of roles) {
    const given = Object.entries(services[role]?.environment ?? {}).map(([name, value]) => {
      expect(SETTINGS).toHaveProperty(name);
      const filled = value.replaceAll(
        /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/g,
        (_, variable, fallback) => fallback ?? example[variable as never] ?? 'x',
      );
      return [name, filled] as const;
    });
    expect(loadConfig(Object.fromEntries(given))).toMatchObject({
      environment: 'production',
      trustProxy: 1,
      publicUrl: example.PUBLIC_URL,
    });
  }
});

test('compose and .env.example name the same variables', () => {
  const given = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(given.toSorted()).toEqual([...namesIn(compose)].toSorted());
});

test('the ingress is told all that its configuration asks for, and where the roles listen', () => {
  const filter = new RegExp((ingress.NGINX_ENVSUBST_FILTER ?? '').replaceAll('$$', '$'));
  for (const name of namesIn(read('deploy/nginx.conf'))) {
    expect(ingress).toHaveProperty(name);
    expect(name).toMatch(filter);
  }
  const { fallback: port } = SETTINGS.PORT;
  for (const [name, value] of Object.entries(ingress).filter(([each]) => each.endsWith('_SERVERS'))) {
    expect(value).toBe(`server ${name.replace('_SERVERS', '').toLowerCase().replaceAll('_', '-')}:${port} resolve;`);
  }
  expect(services.query?.environment).toMatchObject({
    COMMAND_URL: `http://command:${SETTINGS.INTERNAL_PORT.fallback}`,
    JWKS_URL: `http://auth:${port}/jwks`,
    HEADER_BYTES_MAX: '32768',
  });
});

test('the image has the Node of package.json, every role, and the ports of the settings', () => {
  const dockerfile = read('Dockerfile');
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  for (const [, version] of dockerfile.matchAll(/^FROM node:([\d.]+)-alpine/gm)) expect(version).toBe(dependencies.node);
  const kept = read('.dockerignore').split('\n');
  for (const path of [...roles, 'shared', 'main.ts', 'annals.ts', 'command-line', 'deploy/healthcheck.ts'])
    expect(kept).toContain(`!${path}`);
  expect(dockerfile).toContain(`EXPOSE ${SETTINGS.PORT.fallback} ${SETTINGS.METRICS_PORT.fallback} ${SETTINGS.INTERNAL_PORT.fallback}`);
});
