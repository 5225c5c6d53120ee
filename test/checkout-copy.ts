import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LEFT_OUT = /^(?:\..*|node_modules|coverage)$/;

/** A folder with this checkout, in which faults can be planted. It is removed when this process exits. */
export const copyCheckout = (): string => {
  const copy = mkdtempSync(join(tmpdir(), 'planted-'));
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
  cpSync(ROOT, copy, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.test(basename(path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
};
