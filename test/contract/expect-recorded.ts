import { readFileSync, writeFileSync } from 'node:fs';
import { differencesOf } from '../../command-line/domain/contract/differences.ts';

export const FOLDER = new URL('recorded/', import.meta.url);
const SHOWN_MAX = 40;

/**
 * Compares the current output of the product with the recorded one (`recorded/`), and fails with each part
 * that differs. `npm run contract:record` records it again and prints the differences.
 */
export const expectRecorded = (file: string, now: string): void => {
  const url = new URL(file, FOLDER);
  const recorded = readIfThere(url);
  if (recorded === now) return;
  const differences = differencesOf(file, recorded, now);
  const shown = [
    ...differences.slice(0, SHOWN_MAX),
    ...(differences.length > SHOWN_MAX ? [`… ${differences.length - SHOWN_MAX} more`] : []),
  ];
  const what = `${file}: ${differences.length} lines differ (- recorded, + now)\n${shown.join('\n')}`;
  if (process.env.WRITE_CONTRACT !== '1') throw new Error(`test/contract/recorded/${what}\n${ADVICE}`);
  writeFileSync(url, now);
  console.log(`recorded ${what}`);
};

const ADVICE =
  'If a difference is wanted, list it in CHANGELOG.md with the reason and record the contract: npm run contract:record. If not, this is a defect.';

const readIfThere = (url: URL): string => {
  try {
    return readFileSync(url, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '';
  }
};
