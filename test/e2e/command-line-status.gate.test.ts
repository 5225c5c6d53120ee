import { expect } from 'vitest';
import { callLine } from '../engines/call-line.ts';
import { test } from '../engines/terminal.ts';

/** An operator in a terminal asks an installation, wherever it runs. */

test('status shows on one screen that all is well', async ({ call, installation }) => {
  const { exit, lines, complaint } = await call('status');
  expect({ exit, complaint }).toEqual({ exit: 0, complaint: '' });
  const screen = lines.join('\n');
  expect(screen).toContain(`at ${installation.url}`);
  expect(screen).toMatch(/^Roles +command, query, auth, webhook-dispatcher, projector answer$/m);
  expect(screen).toMatch(/^Parked +nothing$/m);
  expect(screen).toMatch(/^Webhooks +0 of 0 endpoints enabled, none fails/m);
  expect(screen).toMatch(/^All \d+ checks pass\.$/m);
  expect(lines.length).toBeLessThan(24);
});

test('status --json is one object for programs', async ({ call, installation }) => {
  const { exit, lines } = await call('status', '--json');
  expect({ exit, lines: lines.length }).toEqual({ exit: 0, lines: 1 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    url: installation.url,
    readiness: { status: 'ready' },
    operations: { readModel: { parked: 0 } },
    findings: [],
  });
});

test('an access token in the environment works as well', async ({ call, installation }) => {
  const token = (await call('token')).lines.join('');
  const { exit } = await callLine({ ...installation.settings, ANNALS_TOKEN: token }, [
    'status',
    '--url',
    installation.url,
  ]);
  expect(exit).toBe(0);
});

test('the exit code shows that the installation did not answer', async ({ access, installation }) => {
  const nowhere = await callLine(installation.settings, [
    'status',
    ...access.slice(0, -1),
    'http://127.0.0.1:1',
  ]);
  expect(nowhere).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('does not answer at http://127.0.0.1:1'),
  });
  const stranger = await callLine(installation.settings, [
    'status',
    '--client',
    'nobody',
    '--secret',
    'x',
    '--url',
    installation.url,
  ]);
  expect(stranger).toMatchObject({ exit: 2, complaint: expect.stringContaining('invalid_client') });
});

test('doctor checks a running installation from the settings of its machine', async ({ installation }) => {
  const { lines, complaint } = await callLine(installation.settings, ['doctor', '--json']);
  const found = lines.map((line) => JSON.parse(line) as { check: string; outcome: string; says: string });
  expect(found.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      'node',
      'settings',
      'disk',
      'database',
      'engines',
      'ports',
      'address',
      'certificate',
    ]),
  );
  expect(found).toContainEqual({
    check: 'database',
    outcome: 'ok',
    says: expect.stringMatching(/^PostgreSQL \d+/),
  });
  expect(found).toContainEqual({
    check: 'database',
    outcome: 'ok',
    says: expect.stringContaining('The master key of MASTER_KEY matches the data'),
  });
  // Servers of tests do not sync to the disk, and those of single roles have ports that these settings do not
  // name.
  const failures = found.filter(
    ({ outcome, check, says }) => outcome === 'fail' && check !== 'ports' && !says.includes('fsync'),
  );
  expect(failures).toEqual([]);
  expect(complaint).not.toContain('Error');
});
