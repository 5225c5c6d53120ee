// Over 200 lines, because it is one page, with everything that a person does there.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test as base } from '../../test/engines/backend.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  openChromium,
  picture,
} from '../../test/engines/chromium.ts';
import { aKey, aLog, ITEM, LOG, LOG_OF_ITEM, OTHER_LOG } from '../../test/proven-log.ts';
import { checkFile } from '../tree/check-file.ts';
import { writeConsistency } from '../tree/consistency-file.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { originOf } from '../tree/tree-head.ts';

const signer = aKey();
const vkey = verifierKeyOf(signer.key);
const log = aLog(LOG_OF_ITEM);
const younger = aLog(LOG_OF_ITEM.slice(0, 6));
const itemProof = async (): Promise<string> => (await log.proveItem(ITEM, signer)).join('');

const DEVICES = [
  ['desktop', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
  ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
] as const;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('chromium', { scope: 'file' }, ({}, { onCleanup }) => openChromium(onCleanup))
  .extend('open', ({ backend, chromium }) => async (options: object = {}, url?: string) => {
    const page = await chromium.newPage(options);
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(url ?? `${backend.url}/audit/check`);
    page.on('request', (request) => asked.push(request.url()));
    return { page, asked, complaints };
  });

const fill = async (page: Page, proof: string, key = vkey, kept?: string): Promise<string> => {
  await page.getByLabel('Key of the log').fill(key);
  if (kept !== undefined) {
    await page.getByText('Compare with a checkpoint').click();
    await page.getByLabel('Kept checkpoint').fill(kept);
  }
  await page.getByLabel('Text of the proof').fill(proof);
  return (await page.locator('.verdict').textContent()) ?? '';
};

describeInChromium('the page that checks proofs', () => {
  test.for(DEVICES)('on a %s it shows what a proof of an item shows', async ([size, options], { open }) => {
    const { page, asked, complaints } = await open(options);
    await expectFitting(page);
    await expectAccessible(page);
    const proof = await itemProof();
    const { sentence, steps } = checkFile(proof, [signer.key]);
    expect(await fill(page, proof)).toBe(`Proven: ${sentence}`);
    expect(await page.locator('.steps li').allTextContents()).toEqual(steps.map(({ says }) => `✓${says}`));
    expect(await page.locator('.contents li').count()).toBe(7);
    await page.getByText('It does not show that version 4 is the newest.').waitFor();
    await page.getByText('no second event with the same version.').waitFor();
    await expectFitting(page);
    await picture(page, `check-${size}`);
    await expectAccessible(page);
    expect({ asked, complaints }).toEqual({ asked: [], complaints: [] });
  });

  test('it proves an event, and that a log only grew', async ({ open }) => {
    const { page } = await open();
    expect(await fill(page, await log.prove(3, signer))).toContain('has this event, in place 4 of 15.');
    const grown = writeConsistency(6, await log.consistencyFrom(6), log.noteOf(signer));
    expect(await fill(page, grown, vkey, younger.noteOf(signer))).toContain(
      'only grew from entry 6 to entry 15',
    );
  });

  const REFUSED = [
    ['is cut', async () => (await itemProof()).slice(0, -60), vkey, 'or a part of it is missing.', 1],
    ['is of another log', itemProof, verifierKeyOf(aKey(OTHER_LOG).key), `of the log ${originOf(LOG)}`, 2],
    ['is signed by another key', itemProof, verifierKeyOf(aKey().key), 'by none of the given keys.', 2],
    [
      'lacks a version',
      async () => (await log.proveItem(ITEM, signer)).toSpliced(2, 1).join(''),
      vkey,
      'version 3 of article-77 comes after version 1',
      3,
    ],
    [
      'has a changed event',
      async () => (await itemProof()).replace('Nº 2', 'Nº 9'),
      vkey,
      'one of them, or the proof, was changed.',
      4,
    ],
    ['comes with a broken key', itemProof, 'annals/x', 'The key is no key of a log.', 0],
  ] as const;

  test('it refuses proofs that are wrong in one way, one after the other, and shows the step', async ({
    open,
  }) => {
    const { page } = await open();
    for (const [what, proof, key, reason, steps] of REFUSED) {
      const said = await fill(page, await proof(), key);
      expect(said, what).toMatch(/^Not proven\. [^\n]*\.$/);
      expect(said, what).toContain(reason);
      expect(await page.locator('.steps li').count(), what).toBe(steps);
      expect(await page.locator('.steps li.wrong').count(), what).toBe(Math.min(steps, 1));
      // The right one in between shows that nothing of it is left.
      expect(await fill(page, await itemProof()), what).toContain('Proven: ');
    }
  });

  test('it refuses an older checkpoint than the kept one', async ({ open }) => {
    const { page } = await open();
    expect(await fill(page, younger.noteOf(signer), vkey, log.noteOf(signer))).toContain(
      'covers 15 entries, and the other one only 6',
    );
  });

  test('a check that fails takes back the verdict of the file before', async ({ open }) => {
    const { page } = await open();
    expect(await fill(page, await itemProof())).toContain('Proven: ');
    await page.evaluate('Uint8Array.prototype.set = () => { throw new Error("no memory"); }');
    const said = await fill(page, await log.prove(3, signer));
    expect(said).toMatch(/^Not proven\. The check failed in this browser: [^\n]*\.$/);
  });

  test('files find their field, by a choice and by a drop', async ({ open }) => {
    const { page } = await open();
    const files = [
      { name: 'keys.txt', mimeType: 'text/plain', buffer: Buffer.from(`${vkey}\n`) },
      { name: 'item.jsonl', mimeType: 'text/plain', buffer: Buffer.from(await itemProof()) },
    ];
    await page.getByLabel('Proof file').setInputFiles(files);
    await page.locator('.verdict.right').waitFor();
    await page.reload();
    await page.getByLabel('Key of the log').fill(vkey);
    const dropped = await page.evaluateHandle<unknown>(
      `(() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([${JSON.stringify(await itemProof())}], 'item.jsonl'));
        return transfer;
      })()`,
    );
    await page.dispatchEvent('body', 'drop', { dataTransfer: dropped });
    await page.locator('.verdict.right').waitFor();
  });

  test('files replace neither a key nor a kept checkpoint, and each file is named', async ({ open }) => {
    const { page } = await open();
    const foreign = verifierKeyOf(aKey().key);
    await fill(page, log.noteOf(signer), vkey, younger.noteOf(signer));
    const files = [
      ['keys.txt', `${foreign}\n`],
      ['head', log.noteOf(signer)],
      ['item.jsonl', await itemProof()],
      ['event.tlog-proof', await log.prove(3, signer)],
    ] as const;
    const chosen = files.map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
    await page.getByLabel('Proof file').setInputFiles(chosen);
    await page.getByText('item.jsonl is the proof.').waitFor();
    expect(await page.locator('#taken').textContent()).toBe(
      'keys.txt was not taken, because there is a key already. head was not taken, because there is a kept checkpoint already. item.jsonl is the proof. event.tlog-proof was not taken, because there is a proof already.',
    );
    expect(await page.getByLabel('Key of the log').inputValue()).toBe(vkey);
    expect(await page.getByLabel('Kept checkpoint').inputValue()).toBe(younger.noteOf(signer));
    expect(await page.getByLabel('Text of the proof').inputValue()).toBe(await itemProof());
  });

  test('it offers the keys of the installation, and says what they are worth', async ({ backend, open }) => {
    await backend.ask('/audit/log/checkpoint', {});
    const { page } = await open();
    await page.getByRole('button', { name: 'Use the keys of this installation' }).click();
    const { body } = await backend.ask('/audit/keys', {});
    const [{ vkey: own }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
    expect(await page.getByLabel('Key of the log').inputValue()).toBe(own);
    await page.getByText('as a stranger, bring a key').waitFor();
  });

  test('it can be saved as one file, and checks the same from a disk with the keyboard alone', async ({
    open,
  }) => {
    const { page } = await open();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save this page' }).click(),
    ]);
    const path = `${await download.path()}.html`;
    await download.saveAs(path);
    expect(await readFile(path, 'utf8')).toContain('Content-Security-Policy');
    const saved = await open({}, pathToFileURL(path).href);
    await saved.page.getByLabel('Text of the proof').focus();
    await saved.page.keyboard.insertText(await itemProof());
    await saved.page.keyboard.press('Tab');
    await saved.page.keyboard.insertText(vkey);
    await saved.page.locator('.verdict.right').waitFor();
    expect(saved).toMatchObject({ asked: [], complaints: [] });
  });
});
