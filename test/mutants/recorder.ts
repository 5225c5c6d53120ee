import child, { type SpawnOptions } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into every process of the tests (reach.ts): notes which mutants each test file executes, also in the
 * processes that it starts.
 */
const { REACHED_INTO = '', REACHED_FROM = '', NODE_OPTIONS } = process.env;
type Scope = { reached?: (mutant: number) => void; __vitest_worker__?: { readonly filepath?: string } };
const scope = globalThis as Scope;
const testFile = (): string => scope.__vitest_worker__?.filepath ?? REACHED_FROM;

/** While a module is loaded, which happens only once for many test files. */
const isLoading = (): boolean => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  return /runInlinedModule|directRequest/.test(stack);
};

const noted = new Set<string>();
scope.reached = (mutant) => {
  const key = `${mutant} ${testFile()}`;
  if (noted.has(key)) return;
  noted.add(key);
  appendFileSync(REACHED_INTO, `${isLoading() ? 'loading' : 'running'} ${key}\n`);
};

const { spawn } = child;
child.spawn = ((command: string, ...given: readonly (readonly string[] | SpawnOptions | undefined)[]) => {
  const args = given.find((each): each is readonly string[] => Array.isArray(each)) ?? [];
  const options = given.find((each): each is SpawnOptions => !Array.isArray(each)) ?? {};
  const env = { ...(options.env ?? process.env), NODE_OPTIONS, REACHED_INTO, REACHED_FROM: testFile() };
  return spawn(command, args, { ...options, env });
}) as typeof spawn;
syncBuiltinESMExports();
