import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../deploy/rolling-restart.sh');
const ORDER = ['projector', 'query', 'webhook-dispatcher', 'command', 'auth'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annals-rolling-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const run = (...args: readonly string[]) =>
  spawnSync('sh', [SCRIPT, ...args], {
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}`, SETTLE_SECONDS: '0', FOLDER: folder },
  });

test('replaces each replica by the given command, in the order of roles that read what others write', () => {
  const { status, stdout } = run(
    write('copies.sh', 'copies_of() { echo one two; }\nreplace() { echo "replaced $1 $2"; }'),
  );
  expect(status).toBe(0);
  const all = ORDER.flatMap((role) => [`${role} one`, `${role} two`]);
  expect(stdout.trim().split('\n')).toEqual(all.flatMap((each) => [each, `replaced ${each}`]));
});

test.each([
  'copies_of() { false; }\nreplace() { true; }',
  'copies_of() { echo one two; }\nreplace() { [ "$1" = projector ]; }',
])('stops at a failure, and keeps the other replicas: %j', (functions) => {
  const { status, stdout } = run(write('copies.sh', functions));
  expect(status).not.toBe(0);
  expect(stdout).not.toContain('query two');
});

test('by default lets docker compose start one more replica, waits for it, and only then stops one', () => {
  const docker = `#!/bin/sh
    case "$*" in
      'compose ps --quiet query') echo q1; echo q2;;
      'compose ps '*) ;;
      *) echo "$*" >> "$FOLDER/called";;
    esac`;
  chmodSync(write('docker', docker), 0o755);
  expect(run().status).toBe(0);
  const up = 'compose up --detach --wait --no-deps --no-recreate --scale query=3 query';
  expect(readFileSync(join(folder, 'called'), 'utf8').trim().split('\n')).toEqual([
    ...[up, 'stop --timeout 15 q1', 'rm q1'],
    ...[up, 'stop --timeout 15 q2', 'rm q2'],
  ]);
});
