import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartRefused } from '#kernel/base/start-refused.ts';

/** A line of a stack that names a file of the project. */
const FILE = /(?:file:\/\/)?((?:\/|[A-Za-z]:\\)[^\s()]*?):(\d+)/;

/** Why a declaration cannot be served, in one line: the sentence of the kernel, or the error with its line. */
export const refusalIn = (error: unknown): string => {
  if (error instanceof StartRefused) return error.message;
  if (!(error instanceof Error)) return String(error);
  const line = (error.stack ?? '')
    .split('\n')
    .filter((each) => !each.includes('node:') && !each.includes('/node_modules/'))
    .find((each) => FILE.test(each));
  const [, path = '', at = ''] = FILE.exec(line ?? '') ?? [];
  const place = path === '' ? '' : ` (${relative('.', path)}:${at})`;
  return `${error.name}: ${shortened(error.message)}${place}`;
};

/** Node names modules by their addresses. */
const shortened = (message: string): string =>
  (message.split('\n')[0] ?? '').replaceAll(/file:\/\/[^\s'"]+/g, (url) => relative('.', fileURLToPath(url)));
