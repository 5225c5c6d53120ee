import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../testing/load.ts';

/**
 * Docker Compose itself needs an engine to run anything; this uses the library with which it reads the file.
 */
const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const hasGo = await run('go', ['version']).then(
  () => true,
  () => false,
);
if (!hasGo)
  process.stderr.write(
    'test/compose.engine.test.ts: left out, because there is no Go (apt-get install golang) to read compose files with.\n',
  );
const hasPromtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
);
if (!hasPromtool)
  process.stderr.write(
    'test/compose.engine.test.ts: the rules are not checked, because there is no promtool (apt-get install prometheus).\n',
  );

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annals-compose-'));
  if (hasGo)
    await run('go', ['build', '-o', join(folder, 'read-compose'), '.'], {
      cwd: join(import.meta.dirname, 'engines/compose'),
    });
}, scaled(300_000));
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (file: string): Promise<readonly string[]> =>
  (await run(join(folder, 'read-compose'), [join(root, '.env.example'), file])).stdout
    .trim()
    .split('\n')
    .toSorted();

test.skipIf(!hasGo)(
  'compose accepts our file, which has every role, every engine, and monitoring',
  async () => {
    const roles = ['auth', 'command', 'projector', 'query', 'webhook-dispatcher'];
    const engines = [
      'eventstoredb',
      'eventstoredb-1',
      'eventstoredb-2',
      'eventstoredb-3',
      'kafka',
      'kurrentdb',
      'kurrentdb-1',
      'kurrentdb-2',
      'kurrentdb-3',
      'postgres',
      'redis',
    ];
    expect(await read(join(root, 'docker-compose.yml'))).toEqual(
      [
        ...roles,
        ...engines,
        'grafana',
        'ingress',
        'jaeger',
        'otel-collector',
        'prepare',
        'prometheus',
      ].toSorted(),
    );
  },
);

test.skipIf(!hasGo)('and refuses one with a mistake in it', async () => {
  const file = join(folder, 'mistaken.yml');
  await writeFile(file, 'services:\n  one:\n    image: one\n    dependson: [two]\n');
  await expect(read(file)).rejects.toThrow(/dependson/);
});

test.skipIf(!hasPromtool)(
  'a process that does not answer raises an alert, and so does a role without processes',
  async () => {
    const file = join(folder, 'alerts.json');
    const role = (name: string, values: string) => ({
      series: `up{job="annals",role="${name}",instance="${name}"}`,
      values,
    });
    const alert = (name: string, labels: object) => ({
      exp_labels: { severity: 'page', role: name, job: 'annals', ...labels },
      exp_annotations: {
        summary: `A process of ${name} does not answer, or none runs.`,
        runbook: 'docs/runbooks.md#annalsprocessdown',
      },
    });
    const present = ['command', 'query', 'webhook-dispatcher'].map((name) => role(name, '1x9'));
    await writeFile(
      file,
      JSON.stringify({
        rule_files: [join(root, 'deploy/prometheus/alerts.yml')],
        tests: [
          {
            interval: '15s',
            input_series: [...present, role('auth', '0x9')],
            alert_rule_test: [
              {
                eval_time: '2m',
                alertname: 'AnnalsProcessDown',
                exp_alerts: [alert('auth', { instance: 'auth' }), alert('projector', {})],
              },
            ],
          },
        ],
      }),
    );
    const { stdout } = await run('promtool', ['test', 'rules', file]);
    expect(stdout).toContain('SUCCESS');
  },
);

test.skipIf(!hasPromtool)('Prometheus accepts our configuration and rules', async () => {
  const { stdout } = await run('promtool', [
    'check',
    'config',
    join(root, 'deploy/prometheus/prometheus.yml'),
  ]);
  expect(stdout).toMatch(/rules found/);
});
