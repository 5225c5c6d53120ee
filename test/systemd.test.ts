import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';

const root = join(import.meta.dirname, '..');
const settingsOf = (name: string) =>
  parseEnv(readFileSync(join(root, 'deploy/systemd', `${name}.env`), 'utf8'));
const roles = globSync('*/main.ts', { cwd: root }).map(dirname);
const secrets = {
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  CLIENT_CERT_SECRET: 'x'.repeat(48),
  DATABASE_URL: 'postgres://annals:x@127.0.0.1:5432/annals',
};

test('the units have valid settings for every role', () => {
  const named = globSync('deploy/systemd/*.env', { cwd: root }).map((path) => basename(path, '.env'));
  expect(named.toSorted()).toEqual([...roles, 'annals'].toSorted());
  for (const role of roles)
    expect(
      () =>
        loadConfig({ ...secrets, ...settingsOf('annals'), ...settingsOf(role) } as Record<string, string>),
      role,
    ).not.toThrow();
});

test('each runs an existing role', () => {
  for (const role of roles) expect(settingsOf(role).ROLE).toBe(role);
});

test('the units on one machine use different ports', () => {
  const ports = roles.flatMap((role) =>
    Object.entries(settingsOf(role)).flatMap(([name, value]) => (name.endsWith('PORT') ? [value] : [])),
  );
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports).toHaveLength(roles.length * 2 + 1);
});

test('the shared settings lead to the ports of auth and command', () => {
  const { JWKS_URL, COMMAND_URL } = settingsOf('annals');
  expect(new URL(JWKS_URL ?? '').port).toBe(settingsOf('auth').PORT);
  expect(new URL(COMMAND_URL ?? '').port).toBe(settingsOf('command').INTERNAL_PORT);
});
