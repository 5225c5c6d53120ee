import { expect } from 'vitest';
import type { Person } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium } from '../engines/chromium.ts';
import { letters } from '../toy/letters.ts';
import { test as base } from './console-window.ts';

/** A person reads and approves what an agent asks for, and finds both in the history. */
const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: letters } })
  .extend('pictures', { scope: 'file' }, 'console-requests')
  .extend('writer', { scope: 'file' }, ({ people }) => people.signUp('Ada'))
  .extend(
    'openOn',
    { scope: 'file' },
    ({ writer, signIn }) =>
      (device) =>
        signIn(writer, device),
  )
  .extend('dossier', ({ create, writer }) => create('/dossiers', writer, { grade: 'A', salary: '3,000' }))
  .extend('asked', async ({ ask, writer, dossier: dossierId }) => {
    const { body } = await ask('POST', '/mcp', {
      token: (writer as Person).token,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
      body: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          name: 'reviseDossier',
          arguments: { dossierId, grade: 'B', salary: '4,000', reason: 'Exam passed' },
        },
      },
    });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const [, id] = /agent-requests\/(\d+)/.exec(text) ?? [];
    expect(id, text).toBeDefined();
    return Number(id);
  });

describeInChromium('requests of agents in the console', () => {
  test.for(CONSOLE_SIZES)(
    'are read and approved on a %s, and history names the approver',
    async ([size, options], { asked, dossier, installation, windowOn }) => {
      const { page, heading, look, press } = await windowOn({ size, options });
      await until(
        async () => {
          await page.goto(`${installation.url}/console/data/agent-requests/${asked}`);
          return page
            .getByRole('button', { name: 'Approve' })
            .waitFor({ timeout: 5_000 })
            .then(
              () => true,
              () => false,
            );
        },
        (isShown) => isShown,
      );
      await heading('Revise dossier');
      await page.getByText('Exam passed').first().waitFor();
      await look('open');
      await press('Approve');
      await page.getByText('Approved', { exact: true }).first().waitFor();
      await look('approved');
      await page.goto(`${installation.url}/console/items/dossiers/${dossier}`);
      const link = page.getByRole('link', { name: 'The request of the agent' });
      await link.waitFor();
      await page.getByText('approved by').first().waitFor();
      await look('history');
    },
  );
});
