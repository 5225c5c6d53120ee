import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Digests, digestOf } from './digest.ts';

type Loaded<Result> = { readonly files: Digests; readonly result: PromiseSettledResult<Result> };

/** Does some work, and finds the files of the project that are loaded by it. */
export const withLoadedFiles = async <Result>(work: () => Promise<Result>): Promise<Loaded<Result>> => {
  const files: Record<string, string> = {};
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) {
        const path = fileURLToPath(url);
        // Before it is loaded: a change in between is then found as one.
        if (!path.includes(`${sep}node_modules${sep}`)) files[path] = digestOfLoaded(path);
      }
      return next(url, context);
    },
  });
  try {
    const [result] = await Promise.allSettled([work()]);
    return { files, result };
  } finally {
    hooks.deregister();
  }
};

const digestOfLoaded = (path: string): string => {
  try {
    return digestOf(readFileSync(path));
  } catch {
    return '';
  }
};
