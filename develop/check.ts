import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { FileChange } from './declaration/plan.ts';

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const PROGRAM = fileURLToPath(new URL(`./check-process${EXTENSION}`, import.meta.url));
const CHECK_MAX_MS = 60_000;

/** Why the kernel refuses the domain of a file with these changes; undefined if it accepts it. */
export const whyRefused = async (
  file: string,
  changes: readonly FileChange[],
): Promise<string | undefined> => {
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: CHECK_MAX_MS,
  });
  const overlay = Object.fromEntries(changes.map(({ path, text }) => [resolve(path), text]));
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ file, overlay }));
  const closed = once(child, 'close');
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  try {
    return (JSON.parse(line) as { readonly refused?: string }).refused;
  } catch {
    return `The declaration could not be checked: ${complaints.trim().split('\n')[0] ?? 'its process ended'}.`;
  }
};
